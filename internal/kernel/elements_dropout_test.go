package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// The first outputs of SplitMix64 from the state 1234567, as its authors' program
// prints them.
func TestMixIsSplitMix64(t *testing.T) {
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		require.Equal(t, want, simd.Mix(1234567+uint64(i+1)*simd.Golden))
	}
}

// dropOnes is Dropout of n ones.
func dropOnes(n int, p float64, key int64, site int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = 1
	}
	Dropout(y, y, p, key, site)
	return y
}

// The masks must never change: a run must be repeatable years later, by any version.
func TestDropoutMaskNeverChanges(t *testing.T) {
	for _, c := range []struct {
		p    float64
		key  int64
		site int
		want string
	}{
		{p: 0.5, key: 0, site: 0, want: ".#..#...#.#.#####.#.####.##..###...#.....#...##....##..##.####.."},
		{p: 0.5, key: 123, site: 1, want: "#.###.#...#.#..##...#...#...##...##..###.#.#.#..#.#######.#..###"},
		{p: 0.1, key: -5, site: 7, want: "#######.#####.##.#########.##.#.###.#######.#######.############"},
	} {
		var got string
		for _, v := range dropOnes(64, c.p, c.key, c.site) {
			if v == 0 {
				got += "."
			} else {
				got += "#"
			}
		}
		require.Equal(t, c.want, got)
	}
}

// Element i depends only on key, site and i: not on the number of elements, the type, or the number of goroutines.
func TestDropoutIsAFunctionOfTheIndex(t *testing.T) {
	const n = 100_003
	long := dropOnes(n, 0.3, 9, 4)
	require.Equal(t, long[:1000], dropOnes(1000, 0.3, 9, 4))
	for _, procs := range []int{1, 3} {
		testenv.SetProcs(t, procs)
		require.Equal(t, long, dropOnes(n, 0.3, 9, 4))
	}
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(i + 1)
	}
	Dropout(y, x, 0.3, 9, 4)
	for i := range y {
		if long[i] == 0 {
			require.Zero(t, y[i])
		} else {
			require.Equal(t, x[i]*float32(1/(1-0.3)), y[i])
		}
	}
	Dropout(x, x, 0.3, 9, 4) // in place
	require.Equal(t, y, x)
}

// The largest and smallest probabilities, keys and sites.
func TestDropoutAtTheEnds(t *testing.T) {
	require.Equal(t, []float64{1, 1, 1, 1, 1}, dropOnes(5, 0, 3, 1), "p = 0 keeps everything as it is")
	nearlyOne := math.Nextafter(1, 0)
	require.Equal(t, make([]float64, 1000), dropOnes(1000, nearlyOne, 3, 1))
	seen := map[float64]bool{}
	for _, key := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		for _, site := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
			code := 0.0 // the mask of 40 elements as a number
			for _, v := range dropOnes(40, 0.5, key, site) {
				code = 2*code + v/2
			}
			require.False(t, seen[code], "key %d, site %d: a mask that was there before", key, site)
			seen[code] = true
		}
	}
}

// Dropping multiplies by 0, as in torch: non-finite numbers become NaN, and finite numbers become 0, never −0.
func TestDropoutOfSpecialValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	mask := dropOnes(64, 0.5, 3, 1)
	for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -1} {
		x, y := make([]float64, 64), make([]float64, 64)
		for i := range x {
			x[i], y[i] = special, r.NormFloat64()
		}
		Dropout(y, x, 0.5, 3, 1)
		for i, keep := range mask {
			want := special*keep + 0
			require.Equal(t, math.IsNaN(want), math.IsNaN(y[i]), "%v·%v = %v", special, keep, y[i])
			if !math.IsNaN(want) {
				require.Equal(t, math.Float64bits(want), math.Float64bits(y[i]), "%v·%v = %v", special, keep, y[i])
			}
		}
	}
}
