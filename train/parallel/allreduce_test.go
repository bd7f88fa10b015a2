//go:build mpi && linux && (amd64 || arm64)

package parallel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"attention/train/parallel"

	"github.com/stretchr/testify/require"
)

// TestAllReduceTime prints the time that two processes need to add up float32s, by size, as a step does. Run the test's
// binary under mpirun -np 2, with -test.run AllReduceTime -test.v.
func TestAllReduceTime(t *testing.T) {
	m, _, err := parallel.Join()
	require.NoError(t, err)
	if m == nil || m.Size() != 2 {
		t.Skip("mpirun -np 2 measures it")
	}
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 512 << 20} {
		mine, theirs := make([]byte, size/2), make([]byte, size/2)
		var took []time.Duration
		for range max(3, min(1000, (1<<28)/size)) {
			begin := time.Now()
			for range 2 { // half of the gradients, and half of the weights
				require.NoError(t, m.Exchange(1-m.Rank(), mine, 1-m.Rank(), theirs))
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		if m.Rank() == 0 {
			median := took[len(took)/2]
			fmt.Printf("%9d kB  %12v  %6.2f GB/s\n", size>>10, median, float64(size)/median.Seconds()/1e9)
		}
	}
	require.NoError(t, m.Close())
}
