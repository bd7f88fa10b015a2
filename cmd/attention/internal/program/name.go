// Package program describes the running program: the command that starts it, its version and its clock.
package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Name is the shell command that starts the program, for hints that can be pasted. main sets it by NameOf.
var Name = "attention"

// byGoRun matches the paths of programs that go run builds: the first time in a folder for temporary files, later in
// its cache.
var byGoRun = regexp.MustCompile(`/go-build[^/]*/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// NameOf returns the shell command that starts the program again whose first argument was typed: attention if the
// shell finds it under this name, go run if that built it, or else the path as typed.
func NameOf(typed string) string {
	if found, err := exec.LookPath("attention"); err == nil && sameFile(found, executable(typed)) {
		return "attention"
	}
	if byGoRun.MatchString(filepath.ToSlash(typed)) {
		return "go run ./cmd/attention"
	}
	return Shell(typed)
}

// executable returns the path of the running program, or the typed one if the system does not tell.
func executable(typed string) string {
	path, err := os.Executable()
	if err != nil {
		return typed
	}
	return path
}

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
