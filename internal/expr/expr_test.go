package expr_test

import (
	"errors"
	"testing"

	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestFormulaKeepsTheFirstError(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	x := G.NewVector(G.NewGraph(), tensor.Float32, G.WithShape(3), G.WithName("x"))
	var f expr.Formula
	require.Same(t, x, f.Of(x, nil))
	a, b := f.Of2(x, x, nil)
	a, b, err := f.Result2(a, b)
	require.NoError(t, err)
	require.Same(t, x, a)
	require.Same(t, x, b)
	n, err := f.Result(x)
	require.NoError(t, err)
	require.Same(t, x, n)

	for _, n := range []*G.Node{f.Of(nil, first), f.Of(x, nil), f.Of(x, second)} {
		require.True(t, n.IsScalar(), "after an error")
		require.NotSame(t, x.Graph(), n.Graph())
	}
	a, b = f.Of2(x, nil, second)
	require.NotNil(t, a)
	require.NotNil(t, b)
	require.Equal(t, first, f.Err())
	n, err = f.Result(x)
	require.Nil(t, n)
	require.Equal(t, first, err)
	a, b, err = f.Result2(x, x)
	require.Nil(t, a)
	require.Nil(t, b)
	require.Equal(t, first, err)
}

// Gorgonia panics on nil; after an error no step gets one.
func TestFormulaWithGorgoniasFunctions(t *testing.T) {
	x := G.NewMatrix(G.NewGraph(), tensor.Float32, G.WithShape(3, 3), G.WithName("x"))
	var f expr.Formula
	failed := f.Of(nil, errors.New("first"))
	require.NotPanics(t, func() {
		f.Of(G.Add(failed, x))
		f.Of(G.Mul(x, failed))
		f.Of(G.Mean(f.Of(G.Square(failed))))
		f.Of(G.Sum(failed, 0))
		f.Of(G.Reshape(failed, tensor.Shape{3, 1}))
		f.Of(G.Transpose(failed, 1, 0))
		f.Of(G.SoftMax(failed))
		f.Of(G.Slice(failed, G.S(0)))
		f.Of(G.Concat(1, x, failed))
	})
	require.EqualError(t, f.Err(), "first")
}
