package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// near compares what two paths give. Arguments are of order 1, and so is whatever is summed: each of cols (of
// all n, for sums over everything) terms may be off by a few roundings; the largest values are e⁴.
func (c *vectorCase[F]) near(t *testing.T, want, got [][]F, terms int) {
	eps := 0x1p-53
	if sizeOf[F]() == 4 {
		eps = 0x1p-24
	}
	for i := range want {
		if c.sameBits {
			require.True(t, sameBits(want[i], got[i]), "%s: argument %d has other bits", c.name, i)
			continue
		}
		for j, w := range want[i] {
			if tol := eps * float64(terms+16) * 8 * (1 + math.Abs(float64(w))); !(math.Abs(float64(got[i][j]-w)) <= tol) {
				require.Failf(t, "differs", "%s: argument %d, element %d of %d: got %v, plain Go gives %v, within %g", c.name, i, j, len(want[i]), got[i][j], w, tol)
			}
		}
	}
}

// testVectorPaths compares the paths on rows of all lengths to 100, at odd offsets, with sentinels around.
func testVectorPaths[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	const sentinel, around = 12345, 80
	for cols := 1; cols <= 100; cols++ {
		rows := 1 + cols%4
		for _, c := range vectorCases[F](rows, cols) {
			start := c.arguments(r, func(n int) []F { return make([]F, n) })
			onPath(t, pathGo)
			want := clones(start)
			c.run(want)
			for _, p := range paths()[1:] {
				onPath(t, p)
				var memory [][]F
				got := make([][]F, len(start))
				for i, x := range start {
					all := make([]F, len(x)+2*around)
					for j := range all {
						all[j] = sentinel
					}
					offset := around - r.IntN(17)
					got[i] = all[offset : offset+len(x) : offset+len(x)]
					copy(got[i], x)
					memory = append(memory, all[:offset], all[offset+len(x):])
				}
				c.run(got)
				c.near(t, want, got, rows*cols)
				for _, m := range memory {
					for _, v := range m {
						require.Equal(t, F(sentinel), v, "%s on %v wrote outside: %d rows of %d", c.name, p, rows, cols)
					}
				}
			}
		}
	}
}

func TestVectorPathsAgree(t *testing.T) {
	t.Run("float32", testVectorPaths[float32])
	t.Run("float64", testVectorPaths[float64])
}

// A result may be computed into an argument's own memory, with the same bits.
func testVectorInPlace[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	for _, p := range paths() {
		onPath(t, p)
		for _, c := range vectorCases[F](5, 43) {
			for _, pair := range c.inPlace {
				apart := c.arguments(r, func(n int) []F { return make([]F, n) })
				together := clones(apart)
				together[pair[0]] = together[pair[1]]
				c.run(apart)
				c.run(together)
				require.True(t, sameBits(apart[pair[0]], together[pair[0]]), "%s on %v: in place of argument %d", c.name, p, pair[1])
			}
		}
	}
}

func TestVectorInPlace(t *testing.T) {
	t.Run("float32", testVectorInPlace[float32])
	t.Run("float64", testVectorInPlace[float64])
}

func TestVectorBitsDoNotDependOnGoroutines(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	for _, shape := range [][2]int{{1, 100003}, {1009, 131}, {3001, 65}} {
		for _, p := range paths() {
			onPath(t, p)
			for _, c := range vectorCases[float32](shape[0], shape[1]) {
				start := c.arguments(r, func(n int) []float32 { return make([]float32, n) })
				var want [][]float32
				for _, procs := range []int{1, 2, 5} {
					setProcs(t, procs)
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
	r := rand.New(rand.NewPCG(34, 1))
	for _, shape := range [][2]int{{3, 7}, {700, 129}} {
		for _, procs := range []int{1, 2} {
			setProcs(t, procs)
			for _, c := range vectorCases[float32](shape[0], shape[1]) {
				a := c.arguments(r, func(n int) []float32 { return make([]float32, n) })
				noAllocations(t, fmt.Sprintf("%s with %d goroutines", c.name, procs), func() { c.run(a) })
			}
		}
	}
}

func TestVectorPanicsOnArgumentsThatDoNotFit(t *testing.T) {
	x, y := make([]float32, 6), make([]float32, 5)
	for name, f := range map[string]func(){
		"exp":           func() { Exp(y, x) },
		"tanh":          func() { Tanh(x, y) },
		"gelu":          func() { GELUTanh(y, x) },
		"mul":           func() { Mul(x, x, y) },
		"add rows":      func() { AddRows(x, x, y) },
		"sum rows":      func() { SumRows(y, x) },
		"softmax":       func() { Softmax(x, x, 4) },
		"softmax (0)":   func() { Softmax(x, x, 0) },
		"cross entropy": func() { CrossEntropy(x, []int64{1}, 3, -100) },
		"layer norm":    func() { LayerNorm(x, y[:2], y[:2], x, y[:2], nil, 3, 0) },
		"rms norm":      func() { RMSNorm(x, x, x[:4], 1) },
		"l2 norm":       func() { L2NormBackward(x, y, x, x, x[:3], 1) },
		"swiglu":        func() { SwiGLUBackward(x, x, x, y, x) },
		"softcap":       func() { Softcap(y, x, 1) },
		"adam":          func() { Adam(x, x, x, y, AdamConstants[float32]{}) },
		"momentum":      func() { Momentum(x, x, y, 1, 1, 1) },
	} {
		require.Panics(t, f, name)
	}
}

// Nothing happens without elements.
func TestVectorOfNothing(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		none := []float64{}
		Exp(none, none)
		Softmax(none, none, 3)
		AddRows(none, none, []float64{1})
		LayerNorm(none, none, none, none, nil, nil, 3, 1e-5)
		SiLU(none, none)
		RMSNorm(none, none, []float64{1, 2}, 1e-5)
		sum := []float64{7, 7}
		RMSNormBackward(none, sum, none, none, []float64{1, 2}, 1e-5)
		require.Equal(t, []float64{0, 0}, sum)
		SumRows(sum, none)
		require.Equal(t, []float64{0, 0}, sum)
		require.Zero(t, SumSquares(none))
		require.Equal(t, math.Inf(-1), rowLogSumExp(none))
		require.Zero(t, CrossEntropy(none, nil, 3, -100))
	}
}

func TestSumSquaresInFloat64(t *testing.T) {
	x := make([]float32, 1001)
	want := 0.0
	for i := range x {
		x[i] = 1e30 / float32(i+1) // the squares are no float32
		want += float64(x[i]) * float64(x[i])
	}
	for _, p := range paths() {
		onPath(t, p)
		require.InEpsilon(t, want, SumSquares(x), 1e-14, "%v", p)
	}
}
