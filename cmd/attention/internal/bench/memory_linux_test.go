package bench

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// The peak remains after the memory is freed.
func TestPeakMemoryGrows(t *testing.T) {
	const size = 300 << 20 // more than the other tests take
	for i, x := 0, make([]byte, size); i < size; i += 4096 {
		x[i] = 1
	}
	debug.FreeOSMemory()
	peak, err := peakMemory()
	require.NoError(t, err)
	require.GreaterOrEqual(t, peak, size)
}
