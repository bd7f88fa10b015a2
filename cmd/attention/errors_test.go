package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsNameTheCommand: the error of every command is one line of the same form: the program and the command, each
// with a colon, and the problem. A second line may suggest the intended names.
func TestErrorsNameTheCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	const missing = "none/such/file"
	wrong := map[string]string{ // a value or a file that the command itself refuses
		"apply": "--config " + missing, "bench": "--heads 5", "chapter": "--section 99", "chat": "--model " + missing,
		"embed":    "--text-file errors_test.go --json --model " + missing,
		"export":   "--model " + missing,
		"tag":      "--text x --model " + missing,
		"rank":     "--query x --text-file errors_test.go --model " + missing,
		"classify": "--text x --model " + missing,
		"finetune": "--data x --model " + missing,
		"generate": "--model " + missing, "gradcheck": "--dtype int", "runs": missing, "train": "--text " + missing,
		"tokenize":  "--text x --tokenizer " + missing,
		"translate": "--heads 5", "view": "--model " + missing, "why": "--seeds 0",
		"compare": "--task none", "runs compare": "one", "runs remove": missing,
	}
	for _, cmd := range newRoot().Commands() {
		name := cmd.Name()
		require.Contains(t, wrong, name, "a command without a row here")
	}
	for name, args := range wrong {
		for _, line := range []string{name + " " + args, name + " --hepl"} {
			printed, code := errorOf(t, strings.Fields(line)...)
			require.Equal(t, 1, code, line)
			first, second, _ := strings.Cut(printed, "\n")
			require.Regexp(t, `^attention: `+name+`: \S`, first, line)
			require.NotContains(t, first, name+": "+name+": ", line)
			if strings.HasSuffix(line, "--hepl") {
				require.Equal(t, "attention: "+name+": unknown flag: --hepl; see "+programOf(t)+" "+name+" --help", first)
				require.Equal(t, "Did you mean this? --help\n", second)
			}
		}
	}
	for line, want := range map[string]string{
		"trian": "attention: unknown command \"trian\" for \"attention\"\nDid you mean this? train\n",
		"train --stpes 3": "attention: train: unknown flag: --stpes; see " + programOf(t) + " train --help\n" +
			"Did you mean this? --steps\n",
		"bench --speed 3": "attention: bench: unknown flag: --speed; see " + programOf(t) + " bench --help\n",
	} {
		printed, _ := errorOf(t, strings.Fields(line)...)
		require.Equal(t, want, printed)
	}
}

// programOf returns the name of the program in hints.
func programOf(t *testing.T) string {
	self, err := os.Executable()
	require.NoError(t, err)
	return self
}

// errorOf runs the program and returns its error output and exit code.
func errorOf(t *testing.T, args ...string) (printed string, code int) {
	command := exec.CommandContext(t.Context(), programOf(t), args...)
	command.Env = append(os.Environ(), programVariable+"=1")
	var errs strings.Builder
	command.Stderr = &errs
	_ = command.Run() // its exit code is checked
	return errs.String(), command.ProcessState.ExitCode()
}
