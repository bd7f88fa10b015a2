package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// shapesAndAxes are test cases of reductions: axes at either end, in the middle, not adjacent, of length 1, all axes,
// none.
var shapesAndAxes = []struct{ shape, axes []int }{
	{shape: []int{}, axes: []int{}},
	{shape: []int{7}, axes: []int{0}},
	{shape: []int{7}, axes: []int{}},
	{shape: []int{1, 1}, axes: []int{0, 1}},
	{shape: []int{3, 5}, axes: []int{0}},
	{shape: []int{3, 5}, axes: []int{1}},
	{shape: []int{3, 5}, axes: []int{0, 1}},
	{shape: []int{2, 3, 5, 7}, axes: []int{2}},
	{shape: []int{2, 3, 5, 7}, axes: []int{1, 2}},
	{shape: []int{2, 3, 5, 7}, axes: []int{0, 2}},
	{shape: []int{2, 3, 5, 7}, axes: []int{1, 3}},
	{shape: []int{2, 3, 5, 7}, axes: []int{0, 2, 3}},
	{shape: []int{2, 3, 5, 7}, axes: []int{0, 3}},
	{shape: []int{2, 3, 1, 7}, axes: []int{1, 2, 3}},
	{shape: []int{2, 1, 5, 7}, axes: []int{0, 2}},
	{shape: []int{2, 3, 2, 3, 2}, axes: []int{0, 2, 4}},
	{shape: []int{2, 3, 2, 3, 2}, axes: []int{1, 3}},
	{shape: []int{5, 3000}, axes: []int{1}},
	{shape: []int{3000, 5}, axes: []int{0}},
	{shape: []int{3, 2100, 600}, axes: []int{1}},
	{shape: []int{40, 700, 3}, axes: []int{0, 1}},
	{shape: []int{70, 3, 1100}, axes: []int{0, 2}},
}

// eachReduced calls f for every element of a shape with the index of its result.
func eachReduced(shape, axes []int, f func(i, to int)) {
	index := make([]int, len(shape))
	for i := range countOf(shape) {
		rest, to := i, 0
		for axis := len(shape) - 1; axis >= 0; axis-- {
			index[axis], rest = rest%shape[axis], rest/shape[axis]
		}
		for axis, at := range index {
			if !slices.Contains(axes, axis) {
				to = to*shape[axis] + at
			}
		}
		f(i, to)
	}
}

func testReductions[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range shapesAndAxes {
		how := NewReduction(c.shape, c.axes)
		x := normals[F](r, countOf(c.shape))
		results := how.Outer * how.Inner
		terms, largest, owners := make([][]float64, results), make([]F, results), make([]int, len(x))
		for i := range largest {
			largest[i] = F(math.Inf(-1))
		}
		eachReduced(c.shape, c.axes, func(i, to int) {
			terms[to], largest[to], owners[i] = append(terms[to], float64(x[i])), max(largest[to], x[i]), to
		})
		for _, p := range paths() {
			t.Run(fmt.Sprint(c.shape, c.axes, p), func(t *testing.T) {
				onPath(t, p)
				sums, tops := nans[F](results), nans[F](results)
				SumOver(sums, x, how, 3)
				MaxOver(tops, x, how)
				require.Equal(t, largest, tops)
				for i, list := range terms {
					withinBound(t, list, float64(sums[i])*3, 1)
				}
				back := nans[F](len(x))
				Repeat(back, tops, how, 2)
				for i, to := range owners {
					if back[i] != largest[to]/2 { // require.Equal would take seconds for millions
						t.Fatalf("element %d of repeat: got %v, want %v", i, back[i], largest[to]/2)
					}
				}
			})
		}
	}
}

func TestReductions(t *testing.T) {
	t.Run("float32", testReductions[float32])
	t.Run("float64", testReductions[float64])
}

func nans[F Float](n int) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = F(math.NaN())
	}
	return x
}

// withinBound requires the accuracy of a pairwise sum in float32: an error of at most 2⁻²³·log₂n·Σ|x|. A result that is
// rounded to float32 once more may have another half unit.
func withinBound(t *testing.T, x []float64, got float64, rounded float64) {
	total, lost, size := 0.0, 0.0, 0.0 // the total and its rounding error
	for _, v := range x {
		sum, took := simd.TwoSum(total, v)
		total, lost = sum, lost+took
		size += math.Abs(v)
	}
	want := total + lost
	bound := 0x1p-23*math.Log2(float64(len(x)))*size + rounded*0x1p-23*math.Abs(want)
	require.LessOrEqual(t, math.Abs(got-want), bound, "%d terms", len(x))
}

// Millions of numbers of one sign and of cancelling signs, and the bits for any number of processors.
func TestSumOfManyNumbers(t *testing.T) {
	const n = 1_500_000
	r := rand.New(rand.NewPCG(2, 1))
	for _, offset := range []float32{0, 1, -1000} {
		x, wide := normals[float32](r, n), make([]float64, n)
		for i := range x {
			x[i] += offset
			wide[i] = float64(x[i])
		}
		for _, p := range paths() {
			onPath(t, p)
			got := Sum(x)
			withinBound(t, wide, got, 0)
			var columns, alone [3]float32
			how := NewReduction([]int{n / 3, 3}, []int{0})
			SumOver(columns[:], x, how, 1)
			testenv.SetProcs(t, 1)
			require.Equal(t, got, Sum(x))
			SumOver(alone[:], x, how, 1)
			require.Equal(t, columns, alone)
			testenv.SetProcs(t, 3)
			require.Equal(t, got, Sum(x))
			SumOver(alone[:], x, how, 1)
			require.Equal(t, columns, alone)
		}
	}
}

func TestMaxOfNaN(t *testing.T) {
	x := make([]float64, 4*5)
	x[7] = math.NaN()
	for axis, want := range [][]bool{{false, false, true, false, false}, {false, true, false, false}} {
		y := make([]float64, len(want))
		MaxOver(y, x, NewReduction([]int{4, 5}, []int{axis}))
		for i, v := range y {
			require.Equal(t, want[i], math.IsNaN(v))
		}
	}
}

func TestReductionsAllocateNothing(t *testing.T) {
	for _, c := range shapesAndAxes {
		how := NewReduction(c.shape, c.axes)
		x, y := make([]float32, countOf(c.shape)), make([]float32, how.Outer*how.Inner)
		testenv.NoAllocations(t, fmt.Sprint(c.shape, c.axes), func() {
			SumOver(y, x, how, 1)
			MaxOver(y, x, how)
			Repeat(x, y, how, 1)
		})
	}
}
