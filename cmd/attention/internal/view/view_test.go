package view_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"

	"github.com/stretchr/testify/require"
)

// --open passes the URL to the system's opener. If the opener fails, the command prints one line and still serves the
// page.
func TestOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the opener is not xdg-open")
	}
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	t.Setenv("PATH", bin)
	dir := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	for script, want := range map[string]string{
		"echo \"$@\" > " + asked: "",
		"echo noise >&2; exit 3": "attention: --open: exit status 3, want a browser; the page is at the URL all the same\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		var out bytes.Buffer
		ctx, stop := context.WithTimeout(t.Context(), patience)
		notes := &notes{done: stop, last: want}
		go notes.await(ctx, asked)
		require.NoError(t, commandtest.Run(ctx, &out, notes, view.New(), "--model", dir, "--open"))
		require.Equal(t, "attention: serving the page at this URL until Ctrl-C\n"+want, notes.String())
		if want == "" {
			got, err := os.ReadFile(asked)
			require.NoError(t, err)
			require.Equal(t, out.String(), string(got))
		}
	}
}

// notes calls done when the last text of a list is written.
type notes struct {
	bytes.Buffer
	last string
	done func()
}

func (n *notes) Write(text []byte) (int, error) {
	defer func() {
		if n.last != "" && string(text) == n.last {
			n.done()
		}
	}()
	return n.Buffer.Write(text)
}

// await calls done, if there is no last text, when a file has a line.
func (n *notes) await(ctx context.Context, file string) {
	for n.last == "" && ctx.Err() == nil {
		if text, err := os.ReadFile(file); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			n.done()
		}
		time.Sleep(time.Millisecond)
	}
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--model: missing, want the folder of a model: runs has none to take; attention train makes one; " +
			"or give --run or --chapter": {"--text", "a"},
		"--text-file: got a file besides --text, want one of them": {
			"--model", "x", "--text", "a", "--text-file", "b"},
		"--open: got it besides --export, which serves no page, want one of them": {
			"--model", "x", "--open", "--export", "p.html"},
		`--run: view_test.go: got a file, want the folder of a run`:    {"--run", "view_test.go"},
		`--run: none: got no config.json, want the folder of a run`:    {"--run", "none"},
		"--addr: got \"x\", want a host and a port, as in 127.0.0.1:0": {"--run", runFolder(t), "--addr", "x"},
	} {
		_, err := commandtest.Output(t.Context(), view.New(), args...)
		require.EqualError(t, err, want)
	}
}
