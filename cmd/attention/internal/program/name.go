// Package program describes the running program: the command that starts it, its version and its clock.
package program

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Name is the shell command that starts the program, for hints that can be pasted. main sets it by NameOf.
var Name = "attention"

// byGoRun matches the paths of programs that go run builds, in a folder for temporary files or in its cache.
var byGoRun = regexp.MustCompile(`/go-build[^/]*/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// NameOf returns the shell command that starts the program again. typed is the program's own first argument. The
// command is attention if the shell finds the program by this name, go run if that built the program, or else typed.
func NameOf(typed string) string {
	if found, err := exec.LookPath("attention"); err == nil && sameFile(found, executable(typed)) {
		return "attention"
	}
	if byGoRun.MatchString(filepath.ToSlash(typed)) {
		return "go run ./cmd/attention"
	}
	return Shell(typed)
}

// executable returns the path of the running program, or typed if the system does not know it.
func executable(typed string) string {
	path, err := os.Executable()
	if err != nil {
		return typed
	}
	return path
}

// sameFile reports whether two paths name one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Shell returns arguments as a shell reads them.
func Shell(args ...string) string {
	var words []string
	for _, arg := range args {
		const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:,@%/"
		if arg == "" || strings.Trim(arg, plain) != "" {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// Command returns the shell command that starts the program with arguments.
func Command(args ...string) string { return Name + " " + Shell(args...) }

// Meant is the text in an error before suggested names, as in Cobra's errors about commands. The program prints it with
// the names on a separate line.
const Meant = "\n\nDid you mean this?\n"

// Note prints a line for people beside the output of the program.
func Note(to io.Writer, format string, args ...any) {
	fmt.Fprintf(to, "attention: "+format+"\n", args...)
}

// Notes prints notes as Note does.
func Notes(to io.Writer, notes []string) {
	for _, note := range notes {
		Note(to, "%s", note)
	}
}
