package term

import (
	"io"
	"os"
	"testing"
	"time"

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

// A bar shows the time left, at the speed of the steps since the first.
func TestTimeLeft(t *testing.T) {
	p := &Progress{n: 101}
	at := time.Unix(1000, 0)
	require.Equal(t, "loss 2.500", p.describe(2.5, at))
	require.Equal(t, "loss 2.000, 1m39s left", p.describe(2, at.Add(time.Second)))
	for range 98 {
		p.describe(1, at)
	}
	require.Equal(t, "loss 1.000, 0s left", p.describe(1, at.Add(2*time.Minute)))
}
