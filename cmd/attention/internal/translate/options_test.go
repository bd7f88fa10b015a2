package translate

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func TestTranslateWrongFlags(t *testing.T) {
	commandtest.InBadFolder(t)
	before := commandtest.Files(t)
	for _, c := range []struct{ args, want string }{
		{args: "--steps 0", want: "--steps: got 0, want at least 1"},
		{args: "--batch 0", want: "--batch: got 0, want at least 1"},
		{args: "--width -3", want: "--width: got -3, want at least 1"},
		{args: "--heads 0", want: "--heads: got 0, want at least 1"},
		{args: "--blocks 0", want: "--blocks: got 0, want at least 1"},
		{args: "--heads 5", want: "--heads: got 5, want a divisor of --width 64"},
		{args: "--width 4096", want: "--width, --blocks: got 4.7e+08 weights, want at most 134217728"},
		{args: "--blocks 4000000", want: "--width, --blocks: got 4.59e+11 weights, want at most 134217728"},
		{args: "--batch 100000", want: "--batch, --width: got 7.17e+08 elements of an MLP, want at most 134217728"},
		{args: "--out=", want: "--out: got nothing, want the name of a file"},
		{args: "--out full", want: "--out: full: is a folder, want a file to write"},
		{args: "--out nothere/file.png", want: "--out: nothere/file.png: want a file in a folder that is there"},
		{args: "--out short/file.png", want: "--out: short/file.png: want a file in a folder that is there"},
	} {
		var out bytes.Buffer
		require.EqualError(t, printTo(t.Context(), &out, strings.Fields(c.args)...), "translate: "+c.want, c.args)
		require.Empty(t, out.String(), c.args)
	}
	require.Error(t, printTo(t.Context(), io.Discard, "dates"))
	require.Equal(t, before, commandtest.Files(t))
}
