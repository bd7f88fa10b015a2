// Package term is the program's interface to the terminal: output, progress, signals and exit codes.
package term

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"syscall"

	"attention/cmd/attention/internal/program"

	"github.com/spf13/cobra"
)

// Main runs a command tree until it is done or SIGINT or SIGTERM ends its context, prints its error and returns the
// exit code. A second signal ends the program at once.
func Main(root *cobra.Command) (code int) {
	ctx, stop := UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, root, os.Stdout, os.Stderr)
}

// run runs a command tree whose output and error output are screens.
func run(ctx context.Context, root *cobra.Command, stdout, stderr io.Writer) (code int) {
	out, errs := NewScreen(stdout), NewScreen(stderr)
	root.SetOut(out)
	root.SetErr(errs)
	cmd, err := root.ExecuteContextC(ctx)
	err = cmp.Or(err, out.Flush())
	_ = errs.Flush() // an error has no place to be printed
	if err == nil {
		return 0
	}
	if !isReported(err) {
		io.WriteString(errs, message(cmd, err))
	}
	return ExitCode(WithSignal(ctx, err))
}

// message returns the text that the program prints about a command's error: a line that begins with the program and the
// command, and perhaps a second one with suggestions. Only this function adds these names to an error. An error of a
// package with the command's name has it already.
func message(cmd *cobra.Command, err error) string {
	names := []string{"attention"}
	if _, command, ok := strings.Cut(cmd.CommandPath(), " "); ok && !strings.HasPrefix(err.Error(), command+": ") {
		names = append(names, command)
	}
	text, meant, ok := strings.Cut(err.Error(), program.Meant)
	line := strings.Join(names, ": ") + ": " + Line(text) + "\n"
	if ok {
		line += Line(strings.TrimSpace(program.Meant)+" "+meant) + "\n"
	}
	return line
}
