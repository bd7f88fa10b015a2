package term

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestScreenEscapes(t *testing.T) {
	var out bytes.Buffer
	s := NewScreen(&out)
	text := "\x1b[31m é漢😀\n\t\u009b\u202e\xff"
	n, err := fmt.Fprint(s, text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.Equal(t, "\\x1b[31m é漢😀\n\t\\u009b\\u202e\\xff", out.String())
	_, err = fmt.Fprint(NewScreen(commandtest.Full{}), "a")
	require.EqualError(t, err, "no space left")
}

// A character that comes in pieces stays whole.
func TestScreenJoinsPieces(t *testing.T) {
	var out bytes.Buffer
	s := NewScreen(&out)
	for _, b := range []byte("é漢😀\u009ba") {
		_, err := s.Write([]byte{b})
		require.NoError(t, err)
	}
	require.Equal(t, "é漢😀\\u009ba", out.String())
	_, err := s.Write([]byte("b\xe6\xbc"))
	require.NoError(t, err)
	require.Equal(t, "é漢😀\\u009bab", out.String())
	require.NoError(t, s.Flush())
	require.NoError(t, s.Flush())
	require.Equal(t, "é漢😀\\u009bab\\xe6\\xbc", out.String())
}

// Another program gets the bytes as they are.
func TestRaw(t *testing.T) {
	var out bytes.Buffer
	require.Same(t, &out, Raw(NewOutput(NewScreen(&out))))
	require.Same(t, &out, Raw(&out))
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	defer terminal.Close()
	s := NewScreen(terminal)
	if !IsTerminal(s) {
		t.Skip("the other end of a terminal is none")
	}
	require.Same(t, s, Raw(s))
}

// No output and no error of a command can control the terminal, and the error is one line.
func TestProgramPrintsOnScreens(t *testing.T) {
	const foreign = "\x1b]0;title\a\u009b\u202e"
	root := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error {
		fmt.Fprintln(cmd.OutOrStdout(), "report "+foreign)
		fmt.Fprintln(cmd.ErrOrStderr(), "note "+foreign)
		return errors.New("tensor " + foreign + strings.Repeat("x", 50<<20) + ":\nmissing")
	}}
	root.SetArgs(nil)
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(t.Context(), root, &out, &errs))
	const escaped = `\x1b]0;title\a\u009b\u202e`
	require.Equal(t, "report "+escaped+"\n", out.String())
	note, line, _ := strings.Cut(errs.String(), "\n")
	require.Equal(t, "note "+escaped, note)
	require.Regexp(t, "^"+regexp.QuoteMeta("attention: tensor "+escaped)+"x+…x+: missing\n$", line)
	require.Less(t, len(line), 300)
}

// Only this package has the program's streams: other packages print through a screen.
func TestOthersPrintOnScreens(t *testing.T) {
	around := regexp.MustCompile(`os\.Std(out|err)|fmt\.Print|\bprintln\(|cmd\.Print|"log(/slog)?"`)
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	require.Greater(t, len(files), 100)
	for _, path := range append(files, "../../main.go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/term/") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, around.FindString(string(text)), path)
	}
}

// If a command could not print something, this is an error of the program, unless the reader closed its end.
func TestLostOutput(t *testing.T) {
	for _, row := range []struct {
		out  io.Writer
		fail error
		want string
	}{
		{out: new(bytes.Buffer)},
		{out: commandtest.Full{}, want: "attention: printing: no space left\n"},
		{out: commandtest.Full{}, fail: errors.New("train: no"), want: "attention: train: no\n"},
		{out: gone{}},
	} {
		var errs bytes.Buffer
		root := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(cmd.OutOrStdout(), "a report")
			return row.fail
		}}
		root.SetArgs(nil)
		code := run(t.Context(), root, row.out, &errs)
		require.Equal(t, row.want, errs.String())
		require.Equal(t, row.want != "", code != 0)
	}
}

// gone is a pipe that nobody reads.
type gone struct{}

func (gone) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}
