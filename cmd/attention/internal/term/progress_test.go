package term

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file gets no progress bar.
func TestNoBarInAFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	p := NewProgress(f, 10)
	require.Nil(t, p.bar)
	p.Step(1)
	p.Clear()
	at, err := f.Seek(0, io.SeekCurrent)
	require.NoError(t, err)
	require.Zero(t, at)
	require.NoError(t, f.Close())
}
