package machine_test

import (
	"io"
	"log"
	"math"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// leftOps are ops that Gorgonia's own code computes.
var leftOps = map[string]struct {
	shape  tensor.Shape
	build  func(x *G.Node) (*G.Node, error)
	noGrad bool
}{
	"AveragePool2D": {shape: tensor.Shape{2, 3, 6, 6}, build: func(x *G.Node) (*G.Node, error) {
		return G.AveragePool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})
	}},
	"GlobalAveragePool2D": {shape: tensor.Shape{2, 3, 4, 5}, noGrad: true, build: G.GlobalAveragePool2D},
	"GroupNorm": {shape: tensor.Shape{2, 6, 2, 2}, build: func(x *G.Node) (*G.Node, error) {
		return G.GroupNorm(x, channels(x, "scale"), channels(x, "bias"), 3, 6, 1e-5)
	}},
	"Upsample2D": {shape: tensor.Shape{2, 3, 2, 2}, build: func(x *G.Node) (*G.Node, error) { return G.Upsample2D(x, 2) }},
	"Sparsemax":  {shape: tensor.Shape{3, 5}, build: func(x *G.Node) (*G.Node, error) { return G.Sparsemax(x) }},
	"DiagFlat":   {shape: tensor.Shape{4}, noGrad: true, build: G.DiagFlat},
	"CTCLoss": {shape: tensor.Shape{5, 2, 4}, build: func(x *G.Node) (*G.Node, error) {
		whole := func(name string, v []int, shape ...int) *G.Node {
			return G.NewTensor(x.Graph(), tensor.Int, len(shape), G.WithName(name), G.WithShape(shape...),
				G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
		}
		return G.CTCLoss(x, whole("targets", []int{1, 2, 3, 1}, 2, 2), whole("lengths", []int{5, 5}, 2),
			whole("target lengths", []int{2, 2}, 2), G.ReductionSum)
	}},
}

// channels returns an input with a number for each channel of images.
func channels(x *G.Node, name string) *G.Node {
	return input(x.Graph(), name, ramp(x.Dtype(), 1, x.Shape()[1], 1, 1))
}

// The results of Gorgonia's own ops, and their gradients, are the same on our machine as on the tape machine.
func TestOpsLeftToGorgonia(t *testing.T) {
	defer log.SetOutput(log.Writer())
	log.SetOutput(io.Discard) // GroupNorm's gradient logs
	for name, c := range leftOps {
		t.Run(name, func(t *testing.T) {
			run := func(machineOf func(g *G.ExprGraph) G.VM) (results [][]float64) {
				g := G.NewGraph()
				x := input(g, "x", ramp(tensor.Float64, c.shape...))
				v := x.Value().Data().([]float64)
				for i := range v {
					v[i] = float64((i*i+3*i)%17)/4 - 2
				}
				y, err := c.build(x)
				require.NoError(t, err)
				wanted := G.Nodes{y}
				if !c.noGrad {
					loss := y
					if !y.Shape().IsScalar() {
						loss = G.Must(G.Sum(G.Must(G.Square(y))))
					}
					grads, err := G.Grad(loss, x)
					require.NoError(t, err)
					wanted = append(wanted, grads...)
				}
				read := make([]G.Value, len(wanted))
				for i, n := range wanted {
					G.Read(n, &read[i])
				}
				m := machineOf(g)
				defer m.Close()
				for range 2 {
					require.NoError(t, m.RunAll())
					m.Reset()
					for _, v := range read {
						results = append(results, numbers(v))
					}
				}
				return results
			}
			want := run(func(g *G.ExprGraph) G.VM { return G.NewTapeMachine(g) })
			got := run(func(g *G.ExprGraph) G.VM {
				m, err := machine.ForGraph(g)
				require.NoError(t, err)
				return m
			})
			require.Len(t, got, len(want))
			for i := range want {
				require.InDeltaSlice(t, want[i], got[i], 1e-9, "value %d", i)
			}
		})
	}
}

// Each graph has an op that this module does not compute.
func TestOpsLeftToGorgoniaAreUnknown(t *testing.T) {
	for name, c := range leftOps {
		x := input(G.NewGraph(), "x", ramp(tensor.Float64, c.shape...))
		y, err := c.build(x)
		require.NoError(t, err)
		known := slices.Collect(func(yield func(bool) bool) {
			for _, n := range y.Graph().AllNodes() {
				if !yield(n.Op() == nil || stock.Of(n, asBuilt{}) != nil) {
					return
				}
			}
		})
		require.Contains(t, known, false, name)
	}
}

// BatchNorm keeps its statistics in the op, and its mode counts at each run, as on the tape machine.
func TestForGraphTrainsAndEvaluates(t *testing.T) {
	run := func(machineOf func(g *G.ExprGraph) G.VM) (results [][]float64) {
		g := G.NewGraph()
		x := input(g, "x", ramp(tensor.Float64, 4, 3, 2, 2))
		y, _, _, op, err := G.BatchNorm(x, channels(x, "scale"), channels(x, "shift"), 0.1, 1e-5)
		require.NoError(t, err)
		var read G.Value
		G.Read(y, &read)
		m := machineOf(g)
		defer m.Close()
		for round := range 6 {
			if round == 3 {
				require.NoError(t, op.SetTraining(false))
			}
			require.NoError(t, m.RunAll())
			m.Reset()
			mean, variance := op.Stats()
			results = append(results, numbers(read), numbers(mean), numbers(variance))
		}
		return results
	}
	want := run(func(g *G.ExprGraph) G.VM { return G.NewTapeMachine(g) })
	got := run(func(g *G.ExprGraph) G.VM {
		m, err := machine.ForGraph(g)
		require.NoError(t, err)
		return m
	})
	require.NotEqual(t, want[2*3], want[3*3], "evaluation differs from training")
	for i := range want {
		require.InDeltaSlice(t, want[i], got[i], 1e-9, "value %d", i)
	}
}

// A gradient alone is correct: it does not depend on state that a forward pass left in the op.
func TestBatchNormGradientAlone(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", tensor.New(tensor.WithShape(4, 1), tensor.WithBacking([]float64{1, 2, 3, 6})))
	ones := func(name string) *G.Node { return input(g, name, ramp(tensor.Float64, 1, 1)) }
	y, _, _, op, err := G.BatchNorm(x, ones("scale"), ones("shift"), 0.1, 1e-3)
	require.NoError(t, err)
	up := input(g, "up", tensor.New(tensor.WithShape(4, 1), tensor.WithBacking([]float64{1, 0, 0, 0})))
	grads, err := G.Grad(G.Must(G.Sum(G.Must(G.HadamardProd(y, up)))), x)
	require.NoError(t, err)
	m, err := machine.New(grads...)
	require.NoError(t, err)
	require.NoError(t, op.SetTraining(true))
	require.NoError(t, m.RunAll())
	// x − mean = −2, −1, 0, 3; variance 3.5.
	s := 1 / math.Sqrt(3.5+1e-3)
	for i, d := range []float64{-2, -1, 0, 3} {
		want := (numbers(up.Value())[i] - 0.25 + 2*d*s*s/4) * s
		require.InDelta(t, want, numbers(grads[0].Value())[i], 1e-12)
	}
}

// Gorgonia's Dropout drops elements in training, and none otherwise.
func TestForGraphDropsInTraining(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 1000))
	y := G.Must(G.Dropout(x, 0.25))
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	dropped := 0
	for i, v := range numbers(y.Value()) {
		if v == 0 {
			dropped++
			continue
		}
		require.InDelta(t, float64(i+1)/0.75, v, 1e-12)
	}
	require.InDelta(t, 250, dropped, 100)
	require.NoError(t, y.Op().(G.TrainModeOp).SetTraining(false))
	require.NoError(t, m.RunAll())
	require.Equal(t, numbers(x.Value()), numbers(y.Value()))
}

// A slice with a step that does not divide a later axis has one element more than its node: a run returns an error,
// whatever node reads it.
func TestSliceOfAnUnevenStep(t *testing.T) {
	g := G.NewGraph()
	y := G.Must(G.Slice(input(g, "x", ramp(tensor.Float64, 4, 5)), nil, G.S(0, 5, 2)))
	require.Equal(t, tensor.Shape{4, 2}, y.Shape())
	for n, want := range map[*G.Node]string{
		y:                  "Node's expected shape is (4, 2). Got (4, 3) instead",
		G.Must(G.Sum(y)):   "input 0: got 12 elements, want 8",
		G.Must(G.Abs(y)):   "input 0: got 12 elements, want 8",
		G.Must(G.Ravel(y)): "got 12 elements, want 8",
	} {
		m, err := machine.New(n)
		require.NoError(t, err)
		require.ErrorContains(t, m.RunAll(), want)
	}
}
