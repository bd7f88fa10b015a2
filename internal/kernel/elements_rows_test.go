package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// vectorCase is a kernel with its arguments for rows rows of cols elements, its results among them.
type vectorCase[F Float] struct {
	name     string
	sameBits bool  // the same bits on all paths: the kernel rounds after every operation
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
	losses, weights := make([]float64, rows), []F{0.7}
	right := Targets[F]{IDs: targets, Cols: cols, Ignore: []int64{-100}}
	downColumns, alongRows := NewReduction([]int{rows, cols}, []int{0}), NewReduction([]int{rows, cols}, []int{1})
	k := simd.AdamConstants[F]{
		Keep: 0.999, Decay: 0.01, Beta1: 0.9, Rest1: 0.1, Beta2: 0.99, Rest2: 0.01, Rate: 0.03, Root: 0.2, Eps: 1e-8,
	}
	return append(elementCases[F](n), []vectorCase[F]{
		{
			name: "MaxRows", sameBits: true, lengths: []int{rows, n},
			run: func(a [][]F) { MaxOver(a[0], a[1], alongRows) },
		},
		{
			name: "MaxColumns", sameBits: true, lengths: []int{cols, n},
			run: func(a [][]F) { MaxOver(a[0], a[1], downColumns) },
		},
		{
			name: "AddRows", sameBits: true, lengths: []int{n, n, cols},
			run: func(a [][]F) { AddRows(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "Add", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { AddRows(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "Turn", sameBits: true, lengths: []int{n, n, n, n, cols, cols}, inPlace: [][2]int{{0, 2}, {1, 3}},
			run: func(a [][]F) { Turn(rows, cols, a[0], a[1], a[2], a[3], a[4], a[5]) },
		},
		{name: "SumRows", sameBits: true, lengths: []int{cols, n}, run: func(a [][]F) { SumRows(a[0], a[1]) }},
		{name: "Sum", lengths: []int{1, n}, run: func(a [][]F) { a[0][0] = F(Sum(a[1])) }},
		{
			name: "SumColumns", lengths: []int{cols, n},
			run: func(a [][]F) { SumOver(a[0], a[1], downColumns, 1) },
		},
		{name: "SumSquares", lengths: []int{1, n}, run: func(a [][]F) { a[0][0] = F(SumSquares(a[1])) }},
		{
			name: "Adam", sameBits: true, lengths: []int{n, n, n, n},
			run: func(a [][]F) { square(a[3]); Adam(a[0], a[1], a[2], a[3], k) },
		},
		{name: "SGD", sameBits: true, lengths: []int{n, n}, run: func(a [][]F) { SGD(a[0], a[1], 0.03, 0.1) }},
		{
			name: "Momentum", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { Momentum(a[0], a[1], a[2], 0.03, 0.9, 0.1) },
		},
		{
			name: "Softmax", lengths: []int{n, n},
			run: func(a [][]F) { Softmax(a[0], a[1], cols) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "SoftmaxBackward", lengths: []int{n, n, n},
			run: func(a [][]F) { SoftmaxBackward(a[0], a[1], a[2], cols) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "LogSoftmax", lengths: []int{n, n},
			run: func(a [][]F) { LogSoftmax(a[0], a[1], cols) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "LogSoftmaxBackward", lengths: []int{n, n, n},
			run: func(a [][]F) { LogSoftmaxBackward(a[0], a[1], a[2], cols) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{name: "LogSumExp", lengths: []int{1, n}, run: func(a [][]F) { a[0][0] = F(rowLogSumExp(a[1])) }},
		{
			name: "CrossEntropy", lengths: []int{1, n},
			run: func(a [][]F) { CrossEntropy(losses, a[1], right); a[0][0] = F(Sum(losses)) },
		},
		{
			name: "CrossEntropyBackward", lengths: []int{n, n},
			run:     func(a [][]F) { CrossEntropyBackward(a[0], a[1], right, weights, 0.7) },
			inPlace: [][2]int{{0, 1}},
		},
		{
			name: "LayerNorm", lengths: []int{n, rows, rows, n, cols, cols},
			run: func(a [][]F) { LayerNorm(a[0], a[1], a[2], a[3], a[4], a[5], cols, 1e-5) }, inPlace: [][2]int{{0, 3}},
		},
		{
			name: "LayerNormPlain", lengths: []int{n, rows, rows, n},
			run: func(a [][]F) { LayerNorm(a[0], a[1], a[2], a[3], nil, nil, cols, 1e-5) }, inPlace: [][2]int{{0, 3}},
		},
		{
			name: "LayerNormBackward", lengths: []int{n, cols, cols, n, n, cols, rows, rows},
			run: func(a [][]F) { LayerNormBackward(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], cols) },
		},
		{
			name: "LayerNormBackwardPlain", lengths: []int{n, n, n, rows, rows},
			run:     func(a [][]F) { LayerNormBackward(a[0], nil, nil, a[1], a[2], nil, a[3], a[4], cols) },
			inPlace: [][2]int{{0, 1}},
		},
		{
			name: "RMSNorm", lengths: []int{n, n, cols},
			run: func(a [][]F) { NormByRoot(a[0], a[1], a[2], RootNorm{Eps: 1e-2}) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "RMSNormBackward", lengths: []int{n, cols, n, n, cols},
			run: func(a [][]F) { NormByRootBackward(a[0], a[1], a[2], a[3], a[4], RootNorm{Eps: 1e-2}) },
		},
		{
			name: "L2Norm", lengths: []int{n, n, cols},
			run: func(a [][]F) { NormByRoot(a[0], a[1], a[2], RootNorm{ByLength: true, Eps: 0.5}) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "L2NormBackward", lengths: []int{n, cols, n, n, cols},
			run: func(a [][]F) { NormByRootBackward(a[0], a[1], a[2], a[3], a[4], RootNorm{ByLength: true, Eps: 0.5}) },
		},
	}...)
}

// elementCases are the functions of an element, their slopes, the gated ones, and the operations on two.
func elementCases[F Float](n int) (cases []vectorCase[F]) {
	settings := map[Function]Settings{Multiple: {0.3}, Clamp: {-0.5, 0.7}, Softcap: {0.7}}
	for f := Abs; f <= GELUTanh; f++ {
		cases = append(cases, vectorCase[F]{
			name: fmt.Sprint("Apply", f), sameBits: f < Log || f == Log && !fusedLog, lengths: []int{n, n},
			run: func(a [][]F) { Apply(f, settings[f], a[0], a[1]) }, inPlace: [][2]int{{0, 1}},
		})
		if f < Clamp || f == Log {
			continue
		}
		cases = append(cases, vectorCase[F]{
			name: fmt.Sprint("Slope", f), sameBits: f < SiLU, lengths: []int{n, n, n},
			run: func(a [][]F) { Slope(f, settings[f], a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		})
	}
	for _, f := range []Function{SiLU, GELU, GELUTanh} {
		cases = append(cases, vectorCase[F]{
			name: fmt.Sprint("Gated", f), lengths: []int{n, n, n},
			run: func(a [][]F) { Gated(f, a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		}, vectorCase[F]{
			name: fmt.Sprint("GatedBackward", f), lengths: []int{n, n, n, n, n},
			run:     func(a [][]F) { GatedBackward(f, a[0], a[1], a[2], a[3], a[4]) },
			inPlace: [][2]int{{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}},
		})
	}
	same, _, _ := NewBroadcast([]int{n}, []int{n})
	for op := Plus; op <= Differs; op++ {
		cases = append(cases, vectorCase[F]{
			name: fmt.Sprint("Arithmetic", op), sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { Arithmetic(op, a[0], a[1], a[2], same) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		})
	}
	return cases
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

// near compares the results of two paths. Arguments and terms of sums are of order 1; each of cols terms (of all n, for
// sums over everything) may differ by a few roundings, and the largest values are e⁴. Arguments are of order 1, and so
// is whatever is summed: each of cols (of all n, for sums over everything) terms may be off by a few roundings; the
// largest values are e⁴.
func (c *vectorCase[F]) near(t *testing.T, want, got [][]F, terms int) {
	eps := 0x1p-53
	if simd.SizeOf[F]() == 4 {
		eps = 0x1p-24
	}
	for i := range want {
		if c.sameBits {
			require.True(t, sameBits(want[i], got[i]), "%s: argument %d has other bits", c.name, i)
			continue
		}
		for j, w := range want[i] {
			if w != w && got[i][j] != got[i][j] {
				continue
			}
			if tol := eps * float64(terms+16) * 8 * (1 + math.Abs(float64(w))); !(math.Abs(float64(got[i][j]-w)) <= tol) {
				require.Failf(t, "differs", "%s: argument %d, element %d of %d: got %v, plain Go gives %v, within %g",
					c.name, i, j, len(want[i]), got[i][j], w, tol)
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
			onPath(t, simd.Go)
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
						if v != sentinel {
							require.Failf(t, "wrote outside", "%s on %v: %v, %d rows of %d", c.name, p, v, rows, cols)
						}
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
				same := sameBits(apart[pair[0]], together[pair[0]])
				require.True(t, same, "%s on %v: in place of argument %d", c.name, p, pair[1])
			}
		}
	}
}

func TestVectorInPlace(t *testing.T) {
	t.Run("float32", testVectorInPlace[float32])
	t.Run("float64", testVectorInPlace[float64])
}

func TestSumSquaresInFloat64(t *testing.T) {
	x := make([]float32, 1001)
	want := 0.0
	for i := range x {
		x[i] = 1e30 / float32(i+1) // the squares are not exact in float32
		want += float64(x[i]) * float64(x[i])
	}
	for _, p := range paths() {
		onPath(t, p)
		require.InEpsilon(t, want, SumSquares(x), 1e-14, "%v", p)
	}
}
