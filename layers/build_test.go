package layers_test

import (
	"errors"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestOneParameterIsOneNode(t *testing.T) {
	p, a, c, _ := some(t, tensor.Float64)
	b := layers.NewBuild(p, layers.Train)
	n := b.Node(a)
	require.Same(t, n, b.Node(a))
	m := b.Node(c)
	require.NotSame(t, n, m)
	require.Equal(t, G.Nodes{n, m}, b.Learnables(), "in order of use, each once")
	require.NoError(t, b.Err())
	require.Equal(t, "b.c", m.Name())
	require.Same(t, a.Value(), n.Value(), "the tensor itself")
	require.Same(t, b.Graph(), n.Graph())
	require.Same(t, p, b.Params())
	require.Equal(t, layers.Train, b.Mode())
	require.Equal(t, "train", layers.Train.String())
	require.Equal(t, "eval", layers.Eval.String())
}

// Using a parameter of another set is an error at that place, not a wrong graph.
func TestForeignParametersAreRefused(t *testing.T) {
	p, q := layers.NewParams(tensor.Float32, 1), layers.NewParams(tensor.Float32, 1)
	for _, name := range chapter.Names() {
		if name == "simple" { // has none
			continue
		}
		c := chapter.Config{Layer: name, EmbedDim: 3, OutDim: 4, NumHeads: 2, QueryDim: 3, KeyDim: 3, AttnDim: 7}
		l := must(chapter.New(q.Scope(name), c))
		b := layers.NewBuild(p, layers.Eval)
		out, err := l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float32, 2, 3)))
		require.ErrorContains(t, err, "got a parameter of another set", name)
		require.Nil(t, out)
		require.Empty(t, b.Learnables())
	}
	_, a, _, _ := some(t, tensor.Float32)
	for _, foreign := range []layers.Param{a, {}} {
		b := layers.NewBuild(p, layers.Eval)
		require.NotNil(t, b.Node(foreign))
		require.ErrorContains(t, b.Err(), "got a parameter of another set")
	}
}

func TestInputsOfABuild(t *testing.T) {
	p, a, _, _ := some(t, tensor.Float64)
	b := layers.NewBuild(p, layers.Eval)
	x := b.Input("x", 2, 3)
	ids := b.InputOf(tensor.Int, "ids", 4)
	scalar := b.InputOf(tensor.Int64, "scalar")
	require.NoError(t, b.Err())
	require.Equal(t, tensor.Shape{2, 3}, x.Shape())
	require.Equal(t, tensor.Float64, x.Dtype(), "as the parameters")
	require.Equal(t, tensor.Int, ids.Dtype())
	require.True(t, scalar.IsScalar())
	require.Equal(t, map[string]*G.Node{"x": x, "ids": ids, "scalar": scalar}, b.Inputs())

	of := layers.NewBuild(p, layers.Eval)
	in := of.InputsOf(layers.Values{"x": tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(2, 3)),
		"keep": tensor.New(tensor.Of(tensor.Bool), tensor.WithShape(4)), "scalar": tensor.New(tensor.FromScalar(int64(1)))})
	require.NoError(t, of.Err())
	require.Len(t, in, 3)
	require.Equal(t, tensor.Shape{2, 3}, in["x"].Shape())
	require.Equal(t, tensor.Bool, in["keep"].Dtype())
	require.True(t, in["scalar"].IsScalar())
	for _, v := range []*tensor.Dense{nil, {}} {
		of := layers.NewBuild(p, layers.Eval)
		of.InputsOf(layers.Values{"x": v})
		require.EqualError(t, of.Err(), `layers: input "x": got no tensor, want one`)
	}

	for _, c := range []struct {
		name    string
		shape   []int
		wantErr string
	}{
		{"x", []int{2, 3}, `layers: input "x": the name is taken, want one that no input and no parameter has`},
		{"x", []int{7}, `layers: input "x": the name is taken, want one that no input and no parameter has`},
		{"a", []int{2, 3}, `layers: input "a": the name is taken, want one that no input and no parameter has`},
		{"empty", []int{2, 0}, `layers: input "empty": shape (2, 0), want every axis at least 1`},
		{"negative", []int{-2}, `layers: input "negative": shape (-2), want every axis at least 1`},
	} {
		b := layers.NewBuild(p, layers.Eval)
		b.Node(a)
		b.Input("x", 2, 3)
		n := b.Input(c.name, c.shape...)
		require.EqualError(t, b.Err(), c.wantErr)
		require.NotNil(t, n)
		require.Len(t, b.Inputs(), 1)
	}
}

// An input may not have the name of a parameter that is used later, nor that of the dropout key.
func TestInputsDoNotHideParameters(t *testing.T) {
	p, _, _, _ := some(t, tensor.Float64)
	for _, name := range []string{"b.c", "dropout.key"} {
		b := layers.NewBuild(p, layers.Train)
		b.Input(name, 5)
		require.ErrorContains(t, b.Err(), "the name is taken")
		require.Empty(t, b.Inputs())
	}
}

// A formula has one step per line; the first error is kept, and no later step panics.
func TestABuildKeepsTheFirstError(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	b := layers.NewBuild(p, layers.Eval)
	x := b.Input("x", 2, 3)
	require.Same(t, x, b.Of(x, nil))
	n, m := b.Of2(x, x, nil)
	require.Same(t, x, n)
	require.Same(t, x, m)
	require.NoError(t, b.Err())

	y := b.Of(graph.MatMul(x, x))
	require.ErrorContains(t, b.Err(), "MatMul: b: shape (2, 3)")
	first := b.Err()
	require.True(t, y.IsScalar())
	n, m = b.Of2(nil, nil, errors.New("second"))
	for _, n := range []*G.Node{b.Of(G.Mean(b.Of(G.Square(b.Of(G.Add(x, y)))))), n, m, b.Input("late", 2)} {
		require.True(t, n.IsScalar(), "Gorgonia's own functions take it")
	}
	require.Same(t, first, b.Err())

	// If a layer gets the placeholder, it returns the original error, not an error about the placeholder.
	_, err := must(layers.NewNorm(p.Scope(""), layers.NormConfig{EmbedDim: 3})).Forward(b, y)
	require.Same(t, first, err)
}

func TestABuildRefusesNil(t *testing.T) {
	b := layers.NewBuild(nil, layers.Train)
	require.EqualError(t, b.Err(), "layers: build: got nil for the parameters, want Params")
	require.NotNil(t, b.Input("x", 2, 3))
	require.NotNil(t, b.Params())
	b = layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Train)
	require.NotNil(t, b.Of(nil, nil))
	require.EqualError(t, b.Err(), "layers: build: got nil for a node and no error, want one of them")
}

func TestCallsRefuseABuildThatIsNone(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	l := must(layers.NewLinear(p.Scope(""), layers.LinearConfig{InFeatures: 3, OutFeatures: 2}))
	x := layers.NewBuild(p, layers.Eval).Input("x", 2, 3)
	for _, b := range []*layers.Build{nil, {}} {
		_, err := l.Forward(b, x)
		_, errDropout := layers.Dropout{}.Forward(b, x)
		for _, err := range []error{err, errDropout} {
			require.EqualError(t, err, "layers: build: got nil or its zero value, want one of NewBuild")
		}
	}
}
