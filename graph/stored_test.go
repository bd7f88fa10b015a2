package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/kernel"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fours are blocks of four numbers: a scale, and the bytes that it multiplies.
var fours = dense.BlockType("fours", kernel.Format{Numbers: 4, Bytes: 5, Decode: func(to []float32, blocks []byte) {
	for i := range to {
		to[i] = float32(blocks[i/4*5]) / 256 * float32(int8(blocks[i/4*5+1+i%4])) / 64
	}
}})

// storedWeight returns a weight of a stored type, and the same one widened.
func storedWeight(r *rand.Rand, dt tensor.Dtype, shape ...int) (stored, wide *tensor.Dense) {
	if dt == fours {
		blocks := make([]byte, tensor.Shape(shape).TotalSize()/4*5)
		for i := range blocks {
			blocks[i] = byte(r.Uint32())
		}
		stored = dense.OfBytes(dt, blocks, false, shape...)
		return stored, dense.Widened(stored)
	}
	numbers := make([]dense.BFloat16, tensor.Shape(shape).TotalSize())
	for i := range numbers {
		numbers[i] = dense.BFloat16(math.Float32bits(float32(r.NormFloat64())) >> 16)
	}
	stored = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(numbers))
	return stored, dense.Widened(stored)
}

// storedCases are functions of x (2, 3, 8), a weight w (8, 8) or (8), and ids.
var storedCases = []struct {
	name   string
	vector bool // w is
	f      func(x, w, ids *G.Node) (*G.Node, error)
}{
	{name: "Linear", f: func(x, w, _ *G.Node) (*G.Node, error) { return graph.Linear(x, w, nil) }},
	{name: "MatMul", f: func(x, w, _ *G.Node) (*G.Node, error) { return graph.MatMul(x, w) }},
	{name: "Linear bf16", f: func(x, w, _ *G.Node) (*G.Node, error) { return graph.BFloat16.Linear(x, w, nil) }},
	{name: "Embedding", f: func(x, w, ids *G.Node) (*G.Node, error) {
		rows, err := graph.Embedding(w, ids)
		if err != nil {
			return nil, err
		}
		return graph.Mul(rows, x)
	}},
	{name: "PositionRows", f: func(x, w, _ *G.Node) (*G.Node, error) {
		start := G.NodeFromAny(x.Graph(), 5, G.WithName("start"))
		rows, err := graph.PositionRows(w, start, 3)
		if err != nil {
			return nil, err
		}
		return graph.Mul(rows, x)
	}},
	{name: "LinearCrossEntropy", f: func(x, w, ids *G.Node) (*G.Node, error) {
		return graph.LinearCrossEntropy(x, w, ids, graph.LinearCrossEntropyConfig{})
	}},
	{name: "LinearCrossEntropy with the gradient by x", f: func(x, w, ids *G.Node) (*G.Node, error) {
		return graph.LinearCrossEntropy(x, w, ids, graph.LinearCrossEntropyConfig{WithX: true, Scale: 0.5, Softcap: 3})
	}},
	{name: "another function", vector: true, f: func(x, w, _ *G.Node) (*G.Node, error) { return graph.RMSNorm(x, w, 1e-6) }},
	{name: "a bias", vector: true, f: func(x, w, _ *G.Node) (*G.Node, error) { return graph.Add(x, w) }},
	{name: "a head of the weight", f: func(x, w, _ *G.Node) (*G.Node, error) {
		rows, err := graph.Rows(w, 2, 4)
		if err != nil {
			return nil, err
		}
		return graph.Linear(x, rows, nil)
	}},
}

// TestStoredWeights: functions of a stored weight have the same bits as functions of the widened weight, values and
// gradients by x, on the module's machine and on Gorgonia's.
func TestStoredWeights(t *testing.T) {
	for _, c := range storedCases {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			shape := []int{8, 8}
			if c.vector {
				shape = shape[:1]
			}
			x := make([]float32, 2*3*8)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			for i := range 4 {
				tape, dt := i%2 > 0, []tensor.Dtype{graph.BF16, fours}[i/2]
				stored, wide := storedWeight(r, dt, shape...)
				value, dx := runStored(t, tape, c.f, x, stored)
				wantValue, wantDX := runStored(t, tape, c.f, x, wide)
				require.Equal(t, wantValue, value, "%s, tape machine: %v", dense.TypeName(dt), tape)
				require.Equal(t, wantDX, dx, "%s, tape machine: %v", dense.TypeName(dt), tape)
				require.NotZero(t, value)
			}
		})
	}
}

// runStored returns the sum of f and its gradient by x.
func runStored(t *testing.T, tape bool, f func(x, w, ids *G.Node) (*G.Node, error), x []float32, w *tensor.Dense,
) (any, any) {
	g := G.NewGraph()
	node := func(name string, v *tensor.Dense) *G.Node {
		return G.NewTensor(g, v.Dtype(), v.Dims(), G.WithShape(v.Shape()...), G.WithName(name), G.WithValue(v))
	}
	xs := node("x", tensor.New(tensor.WithShape(2, 3, 8), tensor.WithBacking(x)))
	ids := node("ids", tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]int{0, 3, 3, 7, 1, 2})))
	y, err := f(xs, node("w", w), ids)
	require.NoError(t, err)
	loss := y
	if !y.IsScalar() {
		loss, err = G.Sum(y)
		require.NoError(t, err)
	}
	grads, err := G.Grad(loss, xs)
	require.NoError(t, err)
	wanted := G.Nodes{loss, grads[0]}
	if tape {
		vm := G.NewTapeMachine(g.SubgraphRoots(wanted...))
		defer vm.Close()
		require.NoError(t, vm.RunAll())
	} else {
		m, err := machine.New(wanted...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
	}
	return loss.Value().Data(), grads[0].Value().Data()
}

func TestStoredWeightsThatDoNotFit(t *testing.T) {
	g := G.NewGraph()
	stored, _ := storedWeight(rand.New(rand.NewPCG(1, 2)), graph.BF16, 4, 4)
	w := G.NewMatrix(g, graph.BF16, G.WithShape(4, 4), G.WithName("w"), G.WithValue(stored))
	x64 := G.NewMatrix(g, tensor.Float64, G.WithShape(2, 4), G.WithName("x64"))
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 4), G.WithName("x"))
	ids := G.NewVector(g, tensor.Int, G.WithShape(2), G.WithName("ids"))
	_, err := graph.Linear(x64, w, nil)
	require.EqualError(t, err, "graph: Linear: weight: got bfloat16, want float64 as the arguments before it")
	_, err = graph.LinearCrossEntropy(x, w, ids, graph.LinearCrossEntropyConfig{WithWeight: true})
	require.EqualError(t, err, "graph: LinearCrossEntropy: with weight: got a weight stored in bfloat16, "+
		"want one of floats: a stored one has no gradient")
	y, err := graph.Linear(x, w, nil)
	require.NoError(t, err)
	sum, err := G.Sum(y)
	require.NoError(t, err)
	_, err = G.Grad(sum, w)
	require.Error(t, err, "a stored weight has no gradient")
}
