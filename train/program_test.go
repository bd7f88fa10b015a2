package train_test

import (
	"context"
	"errors"
	"hash"
	"math"
	"testing"

	"github.com/chewxy/hm"
	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
)

// weights makes a set of one parameter whose elements are all v.
func weights(t *testing.T, name string, v float64, shape ...int) (*layers.Params, layers.Param) {
	p := layers.NewParams(tensor.Float64, 0)
	return p, must(p.Scope("").Param(name, layers.Constant(v), shape...))
}

func TestNotFiniteGradientStopsTheRun(t *testing.T) {
	p, w := weights(t, "w", 1, 3)
	w.Value().Float64s()[1] = 0
	// Σ√w is finite at 0, its gradient ½/√w is not.
	loss := func(b *layers.Build, _ layers.Inputs) []*G.Node { return b.Nodes(G.Sum(G.Must(G.Sqrt(b.Node(w))))) }
	l := must(loop.New(p, loss, small.Config()))
	_, err := l.Step(train.Batch{})
	require.ErrorContains(t, err, "train: step 1: gradient of w: got a norm of +Inf, which is not finite; it began with ÷")
	require.ErrorIs(t, err, train.ErrNotFinite)
	require.Equal(t, []float64{1, 0, 1}, w.Value().Float64s())
	require.Zero(t, l.Steps())
}

// Parameters that the loss does not depend on must be frozen, whether they have no node or one without a path to the
// loss. Frozen, they do not change, not even by weight decay.
func TestParametersTheLossDoesNotDependOnAreLeftAlone(t *testing.T) {
	m := small.New(t, tensor.Float64, 1, 0)
	absent := must(m.Params.Scope("absent").Param("weight", layers.Constant(1), 2, 2))
	dangling := must(m.Params.Scope("dangling").Param("weight", layers.Constant(1), 2, 2))
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		b.Of(graph.Scale(b.Node(dangling), 2))
		return m.Loss(b, in)
	}
	c := small.Config()
	c.Solver.WeightDecay = 0.5
	for _, name := range []string{"absent", "dangling"} {
		_, err := must(loop.New(m.Params, loss, c)).Step(small.Batch(0))
		require.ErrorContains(t, err, "loss: does not depend on parameter "+name+".weight, want it to, or the parameter frozen")
		require.NoError(t, m.Params.Freeze(name))
	}
	l := must(loop.New(m.Params, loss, c))
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), small.Batches(1)))
	for i, p := range []layers.Param{absent, dangling} {
		require.Equal(t, []float64{1, 1, 1, 1}, p.Value().Float64s(), i)
	}
	plain := small.New(t, tensor.Float64, 1, 0)
	require.NoError(t, plain.Loop(t, c).Run(context.Background(), small.Batches(small.Steps), nil))
	got := m.Values()
	delete(got, "absent.weight")
	delete(got, "dangling.weight")
	require.Equal(t, small.Bits(plain.Values()), small.Bits(got), "the others learn as without them")
}

// sumLoss is Σ op(w + v, x); its two parameters have one gradient node.
func sumLoss(t *testing.T, op func(sum, x *G.Node) (*G.Node, error)) (*loop.Loop, []layers.Param) {
	p, w := weights(t, "w", 1, 2)
	v := must(p.Scope("").Param("v", layers.Constant(1), 2))
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(op(b.Of(graph.Add(b.Node(w), b.Node(v))), in["x"]))
	}
	c := small.Config()
	c.Solver.Name, c.Schedule, c.ClipNorm = train.SGD, train.ConstantRate(1), 5
	return must(loop.New(p, loss, c)), []layers.Param{w, v}
}

// Several gradients may be one tensor, and that may be a value that the graph also holds, here the input x: clipping
// must scale each gradient once and must not change x.
func TestClippingSparesTheGraph(t *testing.T) {
	for name, op := range map[string]func(sum, x *G.Node) (*G.Node, error){
		"stock": func(sum, x *G.Node) (*G.Node, error) { return G.Sum(G.Must(G.HadamardProd(sum, x))) },
		"alias": func(sum, x *G.Node) (*G.Node, error) { return G.ApplyOp(dot{}, sum, x) },
	} {
		l, params := sumLoss(t, op)
		x := small.Vector(6, 8)
		s, err := l.Step(train.Batch{Inputs: map[string]*tensor.Dense{"x": x}})
		require.NoError(t, err, name)
		require.Equal(t, 28.0, s.Loss)
		require.InDelta(t, math.Sqrt(200), s.GradNorm, 1e-14)
		require.Equal(t, []float64{6, 8}, x.Float64s(), name)
		for i, p := range params { // 1 − (6, 8)·5/(√200 + 1e-6)
			require.InDeltaSlice(t, []float64{-1.1213202, -1.8284269}, p.Value().Float64s(), 1e-6, "%s: %d", name, i)
		}
	}
}

// dot is Σ a·b that returns b itself, not a copy, as the gradient of a. This is right for a loss, whose own gradient is
// 1.
type dot struct{}

func (dot) Arity() int                                        { return 2 }
func (dot) ReturnsPtr() bool                                  { return false }
func (dot) CallsExtern() bool                                 { return false }
func (dot) OverwritesInput() int                              { return -1 }
func (dot) WriteHash(h hash.Hash)                             { h.Write([]byte("dot")) }
func (dot) Hashcode() uint32                                  { return 1 }
func (dot) String() string                                    { return "dot" }
func (dot) InferShape(...G.DimSizer) (tensor.Shape, error)    { return tensor.ScalarShape(), nil }
func (dot) DiffWRT(int) []bool                                { return []bool{true, false} }
func (dot) SymDiff(in G.Nodes, _, _ *G.Node) (G.Nodes, error) { return G.Nodes{in[1], nil}, nil }

func (dot) Type() hm.Type {
	vector := G.TensorType{Dims: 1, Of: tensor.Float64}
	return hm.NewFnType(vector, vector, tensor.Float64)
}

func (dot) Do(in ...G.Value) (G.Value, error) {
	sum, b := 0.0, in[1].Data().([]float64)
	for i, a := range in[0].Data().([]float64) {
		sum += a * b[i]
	}
	return G.NewF64(sum), nil
}

// For tensor.Shape.Eq a column and a vector are equal, but for an op they are not.
func TestStepRefusesAColumnForAVector(t *testing.T) {
	p, w := weights(t, "w", 1, 2)
	b := layers.NewBuild(p, layers.Train)
	step := must(train.NewStep(b, b.Of(G.ApplyOp(dot{}, b.Node(w), b.Input("x", 2))), small.Config().StepConfig))
	_, err := step.Run(train.Values{"x": small.Zeros(tensor.Float64, 2, 1)})
	require.EqualError(t, err, "train: step 1: batch: x: got float64 (2, 1), want float64 (2)")
}

func TestParametersOfOneElement(t *testing.T) {
	for _, shape := range [][]int{{1}, {1, 1}, {1, 1, 1}} {
		p, w := weights(t, "w", 3, shape...)
		loss := func(b *layers.Build, _ layers.Inputs) []*G.Node {
			return b.Nodes(G.Sum(G.Must(G.HadamardProd(b.Node(w), b.Node(w)))))
		}
		c := small.Config()
		c.Solver.Name, c.Schedule = train.SGD, train.ConstantRate(0.25)
		l, err := loop.New(p, loss, c)
		require.NoError(t, err, "%v", shape)
		s, err := l.Step(train.Batch{})
		require.NoError(t, err, "%v", shape)
		require.Equal(t, 9.0, s.Loss)
		require.Equal(t, []float64{1.5}, w.Value().Float64s())
	}
}

func TestNewRefuses(t *testing.T) {
	p, _ := weights(t, "w", 1, 2, 3)
	_, err := loop.New(nil, small.New(t, tensor.Float32, 1, 0).Loss, small.Config())
	require.EqualError(t, err, "train: got no parameters or no loss, want both")
	_, err = loop.New(p, nil, small.Config())
	require.EqualError(t, err, "train: got no parameters or no loss, want both")
}

// A build and a formula return errors for the same losses.
func TestStepsRefuseLosses(t *testing.T) {
	broken := errors.New("no such layer")
	p, w := weights(t, "w", 1, 2, 3)
	other, stranger := weights(t, "w", 1, 2, 3)
	x := train.Values{"x": small.Vector(1, 2)}
	for _, row := range []struct {
		name string
		loss func(b *layers.Build, in layers.Inputs) (*G.Node, error)
		want string
	}{
		{"an error", func(*layers.Build, layers.Inputs) (*G.Node, error) { return nil, broken }, "no such layer"},
		{"no scalar", func(b *layers.Build, _ layers.Inputs) (*G.Node, error) { return b.Node(w), nil },
			"loss: got float64 (2, 3), want a float32 or float64 scalar"},
		{"another graph", func(*layers.Build, layers.Inputs) (*G.Node, error) {
			return G.Sum(layers.NewBuild(other, layers.Train).Node(stranger))
		}, "loss: got a node of another graph, want one of the build's"},
		{"an integer", func(b *layers.Build, _ layers.Inputs) (*G.Node, error) {
			return G.NewScalar(b.Graph(), tensor.Int, G.WithName("count")), nil
		}, "loss: got int (), want a float32 or float64 scalar"},
		{"no parameter", func(_ *layers.Build, in layers.Inputs) (*G.Node, error) { return G.Sum(in["x"]) },
			"loss: depends on no parameter that is not frozen, want at least one"},
	} {
		formula := func(b *layers.Build, in layers.Inputs) []*G.Node { return b.Nodes(row.loss(b, in)) }
		b := layers.NewBuild(p, layers.Train)
		_, err := train.NewStep(b, formula(b, b.InputsOf(x))[0], small.Config().StepConfig)
		require.EqualError(t, err, "train: train graph: "+row.want, row.name)
		step := must(train.NewStepFunc(p, formula, small.Config().StepConfig))
		for range 2 {
			require.EqualError(t, step.Prepare(x), "train: step 1: batch of x float64 (2): "+row.want, row.name)
			_, err = step.Run(x)
			require.EqualError(t, err, "train: step 1: batch of x float64 (2): "+row.want, row.name)
		}
	}
}
