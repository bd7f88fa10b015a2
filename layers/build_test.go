package layers_test

import (
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestOneParameterIsOneNode(t *testing.T) {
	p, a, c, _ := some(t, tensor.Float64)
	b := layers.NewBuild(p, layers.Train)
	n := b.Node(a)
	require.Same(t, n, b.Node(a))
	require.NotSame(t, n, b.Node(c))
	require.Equal(t, G.Nodes{n, b.Node(c)}, b.Learnables(), "in order of use, each once")
	require.Equal(t, "b.c", b.Node(c).Name())
	require.Same(t, a.Value(), n.Value(), "the tensor itself")
	require.Same(t, b.Graph(), n.Graph())
	require.Same(t, p, b.Params())
	require.Equal(t, layers.Train, b.Mode())
	require.Equal(t, "train", layers.Train.String())
	require.Equal(t, "eval", layers.Eval.String())
}

// A layer used twice shares its parameters.
func TestALayerUsedTwice(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l, err := layers.NewLinear(p.Scope(""), layers.LinearConfig{In: 3, Out: 3, Bias: true})
	require.NoError(t, err)
	b := layers.NewBuild(p, layers.Train)
	y, err := l.Forward(b, input(t, b, "x", numbers(tensor.Float64, 2, 3)))
	require.NoError(t, err)
	_, err = l.Forward(b, y)
	require.NoError(t, err)
	require.Len(t, b.Learnables(), 2)
}

// A parameter of another set is an error where it is used, not a wrong graph.
func TestForeignParametersAreRefused(t *testing.T) {
	p, q := layers.NewParams(tensor.Float32, 1), layers.NewParams(tensor.Float32, 1)
	for name, l := range selfLayers(t, q) {
		if name == layers.Simple {
			continue
		}
		b := layers.NewBuild(p, layers.Eval)
		out, err := l.Forward(b, input(t, b, "x", numbers(tensor.Float32, 2, 3)))
		require.ErrorContains(t, err, "got a parameter of another set", name)
		require.Nil(t, out)
		require.Empty(t, b.Learnables())
	}
	_, a, _, _ := some(t, tensor.Float32)
	require.Nil(t, layers.NewBuild(p, layers.Eval).Node(a))
	require.Nil(t, layers.NewBuild(p, layers.Eval).Node(layers.Param{}))
}

func TestInputsOfABuild(t *testing.T) {
	p, a, _, _ := some(t, tensor.Float64)
	b := layers.NewBuild(p, layers.Eval)
	x, err := b.Input("x", tensor.Float64, 2, 3)
	require.NoError(t, err)
	require.Equal(t, tensor.Shape{2, 3}, x.Shape())
	require.Equal(t, tensor.Float64, x.Dtype())
	ids, err := b.Input("ids", tensor.Int, 4)
	require.NoError(t, err)
	scalar, err := b.Input("scalar", tensor.Int64)
	require.NoError(t, err)
	require.True(t, scalar.IsScalar())
	require.Equal(t, map[string]*G.Node{"x": x, "ids": ids, "scalar": scalar}, b.Inputs())
	b.Node(a)
	for _, c := range []struct {
		name  string
		shape []int
		says  string
	}{
		{"x", []int{2, 3}, `layers: input "x": the name is taken, want one that no input and no parameter has`},
		{"x", []int{7}, `layers: input "x": the name is taken, want one that no input and no parameter has`},
		{"a", []int{2, 3}, `layers: input "a": the name is taken, want one that no input and no parameter has`},
		{"empty", []int{2, 0}, `layers: input "empty": shape (2, 0), want every axis at least 1`},
		{"negative", []int{-2}, `layers: input "negative": shape (-2), want every axis at least 1`},
	} {
		n, err := b.Input(c.name, tensor.Float64, c.shape...)
		require.EqualError(t, err, c.says)
		require.Nil(t, n)
	}
	require.Len(t, b.Inputs(), 3)
}

// An input may not take the place of a parameter that is used later, nor that of
// the key that dropout will be fed.
func TestInputsDoNotHideParameters(t *testing.T) {
	p, _, c, _ := some(t, tensor.Float64)
	b := layers.NewBuild(p, layers.Train)
	if x, err := b.Input("b.c", tensor.Float64, 5); err == nil {
		require.NotSame(t, x, b.Node(c))
		require.Len(t, b.Learnables(), 1)
	}
	if x, err := b.Input("dropout.key", tensor.Int64); err == nil {
		require.NotSame(t, x, b.Drop(0.5).Key)
	}
	b = layers.NewBuild(p, layers.Train)
	b.Drop(0.5)
	_, err := b.Input("dropout.key", tensor.Int64)
	require.Error(t, err)
}

// Graphs of any batch and length, for training or not, share the tensors.
func TestGraphsShareParameters(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l, err := layers.NewCausalAttention(p.Scope(""), layers.CausalAttentionConfig{In: 3, Out: 2, Dropout: 0.5})
	require.NoError(t, err)
	var builds []*layers.Build
	for i, shape := range [][]int{{5, 3}, {2, 7, 3}} {
		b := layers.NewBuild(p, layers.Mode(i))
		_, err := l.Forward(b, input(t, b, "x", numbers(tensor.Float64, shape...)))
		require.NoError(t, err)
		require.Len(t, b.Learnables(), 3)
		builds = append(builds, b)
	}
	for i, n := range builds[0].Learnables() {
		require.NotSame(t, n, builds[1].Learnables()[i])
		require.Same(t, n.Value(), builds[1].Learnables()[i].Value())
		w, _ := p.Get(n.Name())
		require.Same(t, w, n.Value())
	}
}
