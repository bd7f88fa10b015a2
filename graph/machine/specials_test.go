package machine_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A specialOp is one of Gorgonia's ops on elements. Where the tape machine is wrong, wrong says so.
type specialOp struct {
	build func(x, y *G.Node) (*G.Node, error)
	of    func(x, y float64) float64
	wrong func(dt tensor.Dtype, x, y float64) bool
	pair  bool // the function of x and y
	slope bool // its gradient consists of ops none of which is wrong
	same  bool // only for two tensors, not for a tensor and a number
}

func ofX(f func(*G.Node) (*G.Node, error)) func(x, y *G.Node) (*G.Node, error) {
	return func(x, _ *G.Node) (*G.Node, error) { return f(x) }
}

func asNumbers(f func(x, y *G.Node, same bool) (*G.Node, error), same bool) func(x, y *G.Node) (*G.Node, error) {
	return func(x, y *G.Node) (*G.Node, error) { return f(x, y, same) }
}

// specialOps lists the ops. The rows with wrong are the table in this package's README.
var specialOps = map[string]specialOp{
	"Abs":         {build: ofX(G.Abs), slope: true},
	"Sign":        {build: ofX(G.Sign)},
	"Ceil":        {build: ofX(G.Ceil)},
	"Floor":       {build: ofX(G.Floor)},
	"Log2":        {build: ofX(G.Log2), slope: true},
	"Neg":         {build: ofX(G.Neg), slope: true},
	"Square":      {build: ofX(G.Square), slope: true},
	"Sqrt":        {build: ofX(G.Sqrt), slope: true},
	"Inverse":     {build: ofX(G.Inverse), slope: true},
	"InverseSqrt": {build: ofX(G.InverseSqrt), slope: true},
	"Cube":        {build: ofX(G.Cube), slope: true},
	"Tanh":        {build: ofX(G.Tanh), slope: true},
	"Log1p":       {build: ofX(G.Log1p), slope: true},
	"Expm1":       {build: ofX(G.Expm1)},
	"Rectify":     {build: ofX(G.Rectify), slope: true},
	"Sigmoid": {
		build: ofX(G.Sigmoid), wrong: is20, of: func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) },
	},
	"Softplus": {
		build: ofX(G.Softplus), wrong: is20, of: func(x, _ float64) float64 { return math.Log1p(math.Exp(x)) },
	},
	"Sin": {
		build: ofX(G.Sin), wrong: isLarge, of: func(x, _ float64) float64 { return math.Sin(x) },
	},
	"Cos": {
		build: ofX(G.Cos), wrong: isLarge, of: func(x, _ float64) float64 { return math.Cos(x) },
	},
	"Exp": {
		build: ofX(G.Exp), of: func(x, _ float64) float64 { return math.Exp(x) },
		wrong: func(dt tensor.Dtype, x, y float64) bool {
			return isLarge(dt, x, y) && x > 0 || dt == tensor.Float32 && math.Abs(x) == 100 // 100 on arm64 only
		},
	},
	"Log": {
		build: ofX(G.Log), of: func(x, _ float64) float64 { return math.Log(x*0x1p60) - 60*math.Ln2 },
		wrong: func(_ tensor.Dtype, x, _ float64) bool { return x > 0 && x < 0x1p-126 && x != 0x1p-1022 },
	},
	"Add": {build: G.Add, pair: true, slope: true}, "Sub": {build: G.Sub, pair: true, slope: true},
	"HadamardProd": {build: G.HadamardProd, pair: true, slope: true},
	"HadamardDiv": {
		build: G.HadamardDiv, pair: true, of: func(x, y float64) float64 { return x / y },
		wrong: func(_ tensor.Dtype, _, y float64) bool { return y == 0 },
	},
	"Pow": {
		build: G.Pow, pair: true, of: math.Pow,
		wrong: func(dt tensor.Dtype, x, y float64) bool {
			return isLarge(dt, y, x) || dt == tensor.Float32 && math.Abs(y) == 0.5 && (x == 0 || math.IsInf(x, -1))
		},
	},
	"MinBetween": {build: G.MinBetween, pair: true, same: true, of: noNumber, wrong: isOnlyYNaN},
	"MaxBetween": {build: G.MaxBetween, pair: true, same: true, of: noNumber, wrong: isOnlyYNaN},
	"Lt":         {build: asNumbers(G.Lt, true), pair: true}, "Lt, bool": {build: asNumbers(G.Lt, false), pair: true},
	"Gt": {build: asNumbers(G.Gt, true), pair: true}, "Gt, bool": {build: asNumbers(G.Gt, false), pair: true},
	"Lte": {build: asNumbers(G.Lte, true), pair: true}, "Lte, bool": {build: asNumbers(G.Lte, false), pair: true},
	"Gte": {build: asNumbers(G.Gte, true), pair: true}, "Gte, bool": {build: asNumbers(G.Gte, false), pair: true},
	"Eq": {build: asNumbers(G.Eq, true), pair: true}, "Eq, bool": {build: asNumbers(G.Eq, false), pair: true},
	"Ne": {build: asNumbers(G.Ne, true), pair: true}, "Ne, bool": {build: asNumbers(G.Ne, false), pair: true},
}

// isLarge is for float32 only.
func isLarge(dt tensor.Dtype, x, _ float64) bool {
	return dt == tensor.Float32 && math.Abs(x) >= 1e10 && !math.IsInf(x, 0)
}

func is20(dt tensor.Dtype, x, _ float64) bool { return dt == tensor.Float64 && x == 20 }

func isOnlyYNaN(_ tensor.Dtype, x, y float64) bool { return math.IsNaN(y) && !math.IsNaN(x) }

func noNumber(_, _ float64) float64 { return math.NaN() }

// specials returns numbers at which a function may be undefined, infinite or 0, or may jump, and some ordinary numbers.
func specials(dt tensor.Dtype) []float64 {
	x := []float64{0, math.Inf(1), math.NaN(), 0.5, 1, 1.5, 2, 3, 10, 20, 100, 1e10}
	if dt == tensor.Float32 {
		x = append(x, math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126)
	} else {
		x = append(x, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022)
	}
	for _, v := range x[:len(x):len(x)] {
		x = append(x, -v)
	}
	return x
}

// At special numbers, each op and its gradient give the results of the tape machine's tensors.
func TestSpecialsAsOnTheTapeMachine(t *testing.T) {
	if err := simd.Err(); err != nil {
		t.Skip(err)
	}
	for name, op := range specialOps {
		differ := 0
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			t.Run(fmt.Sprint(name, " ", dt), func(t *testing.T) { differ += op.checkAll(t, dt) })
		}
		if runtime.GOARCH == "amd64" { // on other processors its Log is correct
			require.Equal(t, op.wrong != nil, differ > 0, "whether the tape machine is wrong of %s", name)
		}
	}
}

// checkAll compares both machines at all special numbers, or all pairs of them, and returns the differences.
func (op specialOp) checkAll(t *testing.T, dt tensor.Dtype) (differ int) {
	all := specials(dt)
	if !op.pair {
		return op.check(t, dt, all, all)
	}
	var x, y []float64
	for _, v := range all {
		if !op.same {
			differ += op.check(t, dt, all, []float64{v})
			differ += op.check(t, dt, []float64{v}, all)
		}
		for _, w := range all {
			x, y = append(x, v), append(y, w)
		}
	}
	return differ + op.check(t, dt, x, y)
}

// check compares both machines, and returns the differences. A single number is a scalar.
func (op specialOp) check(t *testing.T, dt tensor.Dtype, x, y []float64) (differ int) {
	tape := op.run(t, dt, x, y, func(g *G.ExprGraph) (G.VM, error) { return G.NewTapeMachine(g), nil })
	ours := op.run(t, dt, x, y, func(g *G.ExprGraph) (G.VM, error) { return machine.ForGraph(g) })
	for k := range ours { // the value, and the gradient
		require.Len(t, ours[k], len(tape[k]))
		for i, got := range ours[k] {
			x, y, want := x[min(i, len(x)-1)], y[min(i, len(y)-1)], tape[k][i]
			if op.wrong != nil && op.wrong(dt, x, y) {
				want = op.of(x, y)
				if dt == tensor.Float32 {
					want = float64(float32(want))
				}
			}
			requireLike(t, dt, want, got, x, y)
			if op.wrong != nil && fmt.Sprint(tape[k][i]) != fmt.Sprint(got) && op.wrong(dt, x, y) {
				differ++
			}
		}
	}
	return differ
}

// requireLike requires the same zero, infinity or NaN, or otherwise a close number.
func requireLike(t *testing.T, dt tensor.Dtype, want, got, x, y float64) {
	t.Helper()
	if want == 0 || math.IsInf(want, 0) || math.IsNaN(want) {
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "of %v and %v", x, y)
		return
	}
	eps := 1e-15
	if dt == tensor.Float32 {
		eps = 1e-6 // Gorgonia's own functions are no closer
	}
	require.InEpsilon(t, want, got, eps, "of %v and %v", x, y)
}

// run returns a machine's result for the op, and for its gradient by x.
func (op specialOp) run(
	t *testing.T, dt tensor.Dtype, x, y []float64, vm func(*G.ExprGraph) (G.VM, error),
) [][]float64 {
	g := G.NewGraph()
	in := func(name string, v []float64) *G.Node {
		if len(v) == 1 {
			return G.NewScalar(g, dt, G.WithName(name), G.WithValue(golden.Dense(dt, v, 1).Get(0)))
		}
		return input(g, name, golden.Dense(dt, v, len(v)))
	}
	first := in("x", x)
	n, err := op.build(first, in("y", y))
	require.NoError(t, err)
	wanted := G.Nodes{n}
	if op.slope && len(x) > 1 {
		grads, err := G.Grad(G.Must(G.Sum(n)), first)
		require.NoError(t, err)
		wanted = append(wanted, grads...)
	}
	read := make([]G.Value, len(wanted))
	for i, n := range wanted {
		G.Read(n, &read[i])
	}
	m, err := vm(g)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	results := make([][]float64, len(read))
	for i, v := range read {
		results[i] = numbers(v)
	}
	return results
}

// TestSpecialsOnEachKernelSet runs the test above in processes with each set of kernels that this processor has.
func TestSpecialsOnEachKernelSet(t *testing.T) {
	for _, set := range []string{"go", "avx2", "avx512", "neon"} {
		t.Run(set, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.v", "-test.run=^TestSpecialsAsOnTheTapeMachine$")
			c.Env = append(os.Environ(), simd.Variable+"="+set)
			printed, err := c.CombinedOutput()
			require.NoError(t, err, "%s", printed)
			if strings.Contains(string(printed), "--- SKIP") {
				t.Skip("this processor has no such kernels")
			}
		})
	}
}
