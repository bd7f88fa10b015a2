package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// distance is the number of steps between the keys of two seeds.
func distance(a, b int64) uint64 {
	d := uint64(dropoutKey(a, 0)) - uint64(dropoutKey(b, 0))
	return min(d, -d)
}

// The keys of one seed count up from its first key, so keys differ as long as the first keys are farther apart than the
// length of a run. The distance depends only on the difference of the seeds, and for multiples of the golden ratio the
// smallest distances occur at the Fibonacci numbers.
func TestDropoutKeysOfAllSeedsDiffer(t *testing.T) {
	const steps = 1 << 31
	for step := range 100 {
		require.EqualValues(t, step, dropoutKey(5, step)-dropoutKey(5, 0))
	}
	lowest, records := uint64(math.MaxUint64), []int64{}
	for d := int64(1); d < 3000; d++ {
		if at := distance(d, 0); at < lowest {
			lowest, records = at, append(records, d)
		}
	}
	require.Equal(t, []int64{1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584}, records)
	for a, b := int64(1), int64(2); a < 1<<31; a, b = b, a+b {
		require.Greater(t, distance(a, 0), uint64(steps), "seeds %d apart", a)
		require.Equal(t, distance(a, 0), distance(-7, a-7))
	}
	random := rand.New(rand.NewPCG(1, 0))
	for range 100_000 {
		seed := random.Int64() - random.Int64()
		near, far := seed+1+random.Int64N(1<<31-1), random.Int64()
		require.Greater(t, distance(seed, near), uint64(steps))
		require.Greater(t, distance(seed, far), uint64(steps))
	}
	for _, pair := range [][2]int64{
		{0, 1 << 32}, {1, 1<<32 + 1}, {math.MinInt64, math.MaxInt64}, {0, math.MinInt64}, {-1, 1},
	} {
		require.Greater(t, distance(pair[0], pair[1]), uint64(steps))
	}
}
