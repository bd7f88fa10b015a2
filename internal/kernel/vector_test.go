package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// vectorCase is a kernel with its arguments for rows rows of cols elements, its results among them. sameBits
// says that all paths give one result, bit for bit.
type vectorCase[F Float] struct {
	name     string
	sameBits bool
	lengths  []int // of each argument
	run      func(a [][]F)
	inPlace  [][2]int // results that may lie where an argument lies
}

func vectorCases[F Float](rows, cols int) []vectorCase[F] {
	n := rows * cols
	targets := make([]int64, rows)
	for i := range targets {
		targets[i] = int64(i * 7 % cols)
		if i%5 == 3 {
			targets[i] = -100
		}
	}
	k := AdamConstants[F]{Keep: 0.999, Decay: 0.01, Beta1: 0.9, Rest1: 0.1, Beta2: 0.99, Rest2: 0.01, Rate: 0.03, Root: 0.2, Eps: 1e-8}
	return []vectorCase[F]{
		{"Exp", false, []int{n, n}, func(a [][]F) { Exp(a[0], a[1]) }, [][2]int{{0, 1}}},
		{"Tanh", false, []int{n, n}, func(a [][]F) { Tanh(a[0], a[1]) }, [][2]int{{0, 1}}},
		{"TanhBackward", true, []int{n, n, n}, func(a [][]F) { TanhBackward(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"GELUTanh", false, []int{n, n}, func(a [][]F) { GELUTanh(a[0], a[1]) }, [][2]int{{0, 1}}},
		{"GELUTanhBackward", false, []int{n, n, n}, func(a [][]F) { GELUTanhBackward(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"GELU", false, []int{n, n}, func(a [][]F) { GELU(a[0], a[1]) }, [][2]int{{0, 1}}},
		{"GELUBackward", false, []int{n, n, n}, func(a [][]F) { GELUBackward(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"Mul", true, []int{n, n, n}, func(a [][]F) { Mul(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"Scale", true, []int{n, n}, func(a [][]F) { Scale(a[0], a[1], 0.3) }, [][2]int{{0, 1}}},
		{"AddRows", true, []int{n, n, cols}, func(a [][]F) { AddRows(a[0], a[1], a[2]) }, [][2]int{{0, 1}}},
		{"Add", true, []int{n, n, n}, func(a [][]F) { AddRows(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"SumRows", true, []int{cols, n}, func(a [][]F) { SumRows(a[0], a[1]) }, nil},
		{"SumSquares", false, []int{1, n}, func(a [][]F) { a[0][0] = F(SumSquares(a[1])) }, nil},
		{"Adam", true, []int{n, n, n, n}, func(a [][]F) { square(a[3]); Adam(a[0], a[1], a[2], a[3], k) }, nil},
		{"SGD", true, []int{n, n}, func(a [][]F) { SGD(a[0], a[1], 0.03, 0.1) }, nil},
		{"Momentum", true, []int{n, n, n}, func(a [][]F) { Momentum(a[0], a[1], a[2], 0.03, 0.9, 0.1) }, nil},
		{"Softmax", false, []int{n, n}, func(a [][]F) { Softmax(a[0], a[1], cols) }, [][2]int{{0, 1}}},
		{"SoftmaxBackward", false, []int{n, n, n}, func(a [][]F) { SoftmaxBackward(a[0], a[1], a[2], cols) }, [][2]int{{0, 1}, {0, 2}}},
		{"LogSumExp", false, []int{1, n}, func(a [][]F) { a[0][0] = F(rowLogSumExp(a[1])) }, nil},
		{"CrossEntropy", false, []int{1, n}, func(a [][]F) { a[0][0] = F(CrossEntropy(a[1], targets, cols, -100)) }, nil},
		{"CrossEntropyBackward", false, []int{n, n}, func(a [][]F) { CrossEntropyBackward(a[0], a[1], targets, cols, -100, 0.7) }, [][2]int{{0, 1}}},
		{"LayerNorm", false, []int{n, rows, rows, n, cols, cols}, func(a [][]F) { LayerNorm(a[0], a[1], a[2], a[3], a[4], a[5], cols, 1e-5) }, [][2]int{{0, 3}}},
		{"LayerNormPlain", false, []int{n, rows, rows, n}, func(a [][]F) { LayerNorm(a[0], a[1], a[2], a[3], nil, nil, cols, 1e-5) }, [][2]int{{0, 3}}},
		{"LayerNormBackward", false, []int{n, cols, cols, n, n, cols, rows, rows}, func(a [][]F) { LayerNormBackward(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], cols) }, nil},
		{"LayerNormBackwardPlain", false, []int{n, n, n, rows, rows}, func(a [][]F) { LayerNormBackward(a[0], nil, nil, a[1], a[2], nil, a[3], a[4], cols) }, [][2]int{{0, 1}}},
		{"RMSNorm", false, []int{n, n, cols}, func(a [][]F) { RMSNorm(a[0], a[1], a[2], 1e-2) }, [][2]int{{0, 1}}},
		{"RMSNormBackward", false, []int{n, cols, n, n, cols}, func(a [][]F) { RMSNormBackward(a[0], a[1], a[2], a[3], a[4], 1e-2) }, nil},
		{"L2Norm", false, []int{n, n, cols}, func(a [][]F) { L2Norm(a[0], a[1], a[2], 0.5) }, [][2]int{{0, 1}}},
		{"L2NormBackward", false, []int{n, cols, n, n, cols}, func(a [][]F) { L2NormBackward(a[0], a[1], a[2], a[3], a[4], 0.5) }, nil},
		{"Sigmoid", false, []int{n, n}, func(a [][]F) { Sigmoid(a[0], a[1]) }, [][2]int{{0, 1}}},
		{"SigmoidBackward", true, []int{n, n, n}, func(a [][]F) { SigmoidBackward(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"SiLU", false, []int{n, n}, func(a [][]F) { SiLU(a[0], a[1]) }, [][2]int{{0, 1}}},
		{"SiLUBackward", false, []int{n, n, n}, func(a [][]F) { SiLUBackward(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"SwiGLU", false, []int{n, n, n}, func(a [][]F) { SwiGLU(a[0], a[1], a[2]) }, [][2]int{{0, 1}, {0, 2}}},
		{"SwiGLUBackward", false, []int{n, n, n, n, n}, func(a [][]F) { SwiGLUBackward(a[0], a[1], a[2], a[3], a[4]) }, [][2]int{{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}}},
		{"Softcap", false, []int{n, n}, func(a [][]F) { Softcap(a[0], a[1], 0.7) }, [][2]int{{0, 1}}},
		{"SoftcapBackward", true, []int{n, n, n}, func(a [][]F) { SoftcapBackward(a[0], a[1], a[2], 0.7) }, [][2]int{{0, 1}, {0, 2}}},
	}
}

func square[F Float](x []F) {
	for i, v := range x {
		x[i] = v * v
	}
}

// arguments makes the slices of a case by place, and fills them.
func (c *vectorCase[F]) arguments(r *rand.Rand, place func(n int) []F) [][]F {
	a := make([][]F, len(c.lengths))
	for i, n := range c.lengths {
		a[i] = place(n)
		copy(a[i], normals[F](r, n))
	}
	return a
}

func clones[F Float](a [][]F) [][]F {
	b := make([][]F, len(a))
	for i, x := range a {
		b[i] = append([]F(nil), x...)
	}
	return b
}

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
