package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

func TestVectorBitsDoNotDependOnGoroutines(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	shapes := [][2]int{{1, 100003}, {1009, 131}, {3001, 65}}
	switch {
	case testenv.Race: // which is ten times slower: 6 and 8 blocks are enough for 5 goroutines
		shapes = [][2]int{{1, 50021}, {509, 131}}
	case !testenv.All:
		shapes = shapes[:2]
	}
	for _, shape := range shapes {
		for _, p := range paths() {
			if leavesOut(p) {
				continue
			}
			onPath(t, p)
			for _, c := range vectorCases[float32](shape[0], shape[1]) {
				start := c.arguments(r, func(n int) []float32 { return make([]float32, n) })
				var want [][]float32
				for _, procs := range []int{1, 2, 5} {
					testenv.SetProcs(t, procs)
					got := clones(start)
					c.run(got)
					if want == nil {
						want = got
					}
					for i := range got {
						require.True(t, sameBits(want[i], got[i]), "%s on %v: other bits with %d goroutines", c.name, p, procs)
					}
				}
			}
		}
	}
}

func TestVectorAllocatesNothing(t *testing.T) {
	if testenv.Race {
		t.Skip("NoAllocations counts none under the race detector")
	}
	r := rand.New(rand.NewPCG(34, 1))
	for _, shape := range [][2]int{{3, 7}, {700, 129}} {
		for _, procs := range []int{1, 2} {
			testenv.SetProcs(t, procs)
			for _, c := range vectorCases[float32](shape[0], shape[1]) {
				a := c.arguments(r, func(n int) []float32 { return make([]float32, n) })
				testenv.NoAllocations(t, fmt.Sprintf("%s with %d goroutines", c.name, procs), func() { c.run(a) })
			}
		}
	}
}

func TestVectorPanicsOnArgumentsThatDoNotFit(t *testing.T) {
	x, y := make([]float32, 6), make([]float32, 5)
	for _, row := range []struct {
		reason string
		call   func()
	}{
		{reason: "apply: y", call: func() { Apply(Exp, Settings{}, y, x) }},
		{reason: "apply: x", call: func() { Apply(Tanh, Settings{}, x, y) }},
		{reason: "slope: known", call: func() { Slope(Tanh, Settings{}, x, y, x) }},
		{reason: "slope: dy", call: func() { Slope(Tanh, Settings{}, x, x, y) }},
		{reason: "add rows", call: func() { AddRows(x, x, y) }},
		{reason: "sum rows", call: func() { SumRows(y, x) }},
		{reason: "softmax: columns that do not divide", call: func() { Softmax(x, x, 4) }},
		{reason: "softmax: no columns", call: func() { Softmax(x, x, 0) }},
		{reason: "cross entropy: targets", call: func() {
			CrossEntropy(make([]float64, 1), x, Targets[float32]{IDs: make([]int64, 1), Cols: 3})
		}},
		{reason: "layer norm: gamma", call: func() { LayerNorm(x, y[:2], y[:2], x, y[:2], nil, 3, 0) }},
		{reason: "rms norm: weight", call: func() { NormByRoot(x, x, x[:4], RootNorm{Eps: 1}) }},
		{reason: "l2 norm: dweight", call: func() { NormByRootBackward(x, y, x, x, x[:3], RootNorm{ByLength: true, Eps: 1}) }},
		{reason: "gated: up", call: func() { GatedBackward(SiLU, x, x, x, y, x) }},
		{reason: "adam: v", call: func() { Adam(x, x, x, y, simd.AdamConstants[float32]{}) }},
		{reason: "momentum: buffer", call: func() { Momentum(x, x, y, 1, 1, 1) }},
	} {
		require.Panics(t, row.call, row.reason)
	}
}

// Nothing happens without elements.
func TestVectorOfNothing(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		none := []float64{}
		Apply(Exp, Settings{}, none, none)
		Softmax(none, none, 3)
		AddRows(none, none, []float64{1})
		LayerNorm(none, none, none, none, nil, nil, 3, 1e-5)
		Apply(SiLU, Settings{}, none, none)
		NormByRoot(none, none, []float64{1, 2}, RootNorm{Eps: 1e-5})
		sum := []float64{7, 7}
		NormByRootBackward(none, sum, none, none, []float64{1, 2}, RootNorm{Eps: 1e-5})
		require.Equal(t, []float64{0, 0}, sum)
		SumRows(sum, none)
		require.Equal(t, []float64{0, 0}, sum)
		require.Zero(t, SumSquares(none))
		require.Equal(t, math.Inf(-1), rowLogSumExp(none))
		CrossEntropy(none, none, Targets[float64]{Cols: 3})
	}
}
