//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// longCommands are calls that take many seconds, one for each kind of long work. The signal is sent after the command
// has printed the text at, or half a second after its start. A signal comes when the command has printed at, or half a
// second after its start.
var longCommands = []struct {
	args, at string
	keep     bool // whether files remain, such as a checkpoint
}{
	{args: "bench --tokens 64 --runs 100000"},
	{args: "chapter", at: "1. "},
	{args: "chapter --pictures pictures", at: "01-steps.png", keep: true},
	{args: "classify --model base --text-file -"},
	{args: "compare --task copy --steps 100000 --out compared", keep: true},
	{args: "embed --model encoder --text-file words.txt --json"},
	{args: "embed --model encoder --text-file lines.txt --json"},
	{args: "tag --model tagger --text-file lines.txt"},
	{args: "rank --model ranker --query x --text-file lines.txt"},
	{args: "generate --model base --prompt the --tokens 1000000"},
	{args: "gradcheck --all"},
	{args: "tokenize --text-file -"},
	{args: "tokenize --text-file words.txt"},
	{args: "tokenize --text-file words.txt --json"},
	{args: "tokenize --train --text-file words.txt --vocab 5000 --out tokenizer.json"},
	{args: "train --steps 100000 --out run", at: "\n", keep: true},
	{args: "translate --steps 100000 --out dates", at: "\n", keep: true},
	{args: "view --model base --export page.html --text-file long.txt"},
	{args: "why --task reverse --steps 100000 --out why", keep: true},
}

// TestLongCommandsHearSignals: every command with long work ends soon after Ctrl-C or SIGTERM. It has the exit code of
// the manual, prints one line and leaves no incomplete file.
func TestLongCommandsHearSignals(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	var words strings.Builder
	for i := range 1_500_000 {
		fmt.Fprintf(&words, "%x ", uint32(i)*2654435761)
	}
	for name, content := range map[string]string{
		"words.txt": words.String(), "long.txt": strings.Repeat("the cat sat. ", 38),
		"lines.txt": strings.ReplaceAll(words.String(), " ", "\n"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	for name, from := range map[string]string{"encoder": "bert", "tagger": "bert_tags", "ranker": "bert_pair"} {
		encoder, err := golden.Path("encoders", from)
		require.NoError(t, err)
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(encoder)))
	}
	start := func(args string) (*exec.Cmd, io.ReadCloser, *bytes.Buffer) {
		c := exec.CommandContext(t.Context(), self, strings.Fields(args)...)
		c.Env, c.Dir = append(os.Environ(), programVariable+"=1"), dir
		var notes bytes.Buffer
		c.Stderr = &notes
		stdout, err := c.StdoutPipe()
		require.NoError(t, err)
		_, err = c.StdinPipe() // which never ends
		require.NoError(t, err)
		require.NoError(t, c.Start())
		return c, stdout, &notes
	}
	c, stdout, notes := start("train --model gpt --layers 48 --heads 12 --width 96 --context 500 --steps 1 --batch 1 " +
		"--eval-batches 1 --sample 0 --out base")
	_, _ = io.Copy(io.Discard, stdout)
	require.NoError(t, c.Wait(), notes)
	for i, row := range longCommands {
		signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
		if i > 0 {
			signals = signals[i%2:][:1] // one context ends at both signals
		}
		for _, signal := range signals {
			t.Run(fmt.Sprintf("%s/%v", row.args, signal), func(t *testing.T) {
				before := namesOf(t, dir)
				c, stdout, notes := start(row.args)
				printed := make(chan string)
				go func() {
					var all bytes.Buffer
					for piece := make([]byte, 1<<12); ; {
						n, err := stdout.Read(piece)
						all.Write(piece[:n])
						if row.at != "" && strings.Contains(all.String(), row.at) || err != nil {
							break
						}
					}
					close(printed)
					_, _ = io.Copy(io.Discard, stdout)
				}()
				if row.at == "" {
					time.Sleep(time.Second / 2)
				} else {
					select {
					case <-printed:
					case <-time.After(20 * time.Second):
						t.Errorf("nothing with %q is printed", row.at)
					}
				}
				require.NoError(t, c.Process.Signal(signal))
				sent := time.Now()
				err := c.Wait()
				var exit *exec.ExitError
				require.True(t, errors.As(err, &exit), "%v: %s", err, notes)
				require.Equal(t, 128+int(signal), exit.ExitCode(), notes)
				require.Less(t, time.Since(sent), 20*time.Second)
				last := strings.Split(strings.TrimSpace(notes.String()), "\n")
				command, _, _ := strings.Cut(row.args, " ")
				require.True(t, strings.HasPrefix(last[len(last)-1], "attention: "+command+": "), notes)
				if !row.keep {
					require.Equal(t, before, namesOf(t, dir))
				}
			})
			for _, made := range []string{"compared", "run", "dates", "why", "pictures"} {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, made)))
			}
		}
	}
}

func namesOf(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
