package chapter_test

import (
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dense makes a tensor of type dt of float64 numbers.
func dense(dt tensor.Dtype, v []float64, shape ...int) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slices.Clone(v)))
	}
	narrow := make([]float32, len(v))
	for i, x := range v {
		narrow[i] = float32(x)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(narrow))
}

// numbers are distinct values between −1 and 1, in no order.
func numbers(dt tensor.Dtype, shape ...int) *tensor.Dense {
	v := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range v {
		v[i] = float64((i*7919+13)%1009)/504.5 - 1
	}
	return dense(dt, v, shape...)
}

// floats widens a value's elements.
func floats(v G.Value) []float64 {
	switch d := v.Data().(type) {
	case []float64:
		return slices.Clone(d)
	case []float32:
		wide := make([]float64, len(d))
		for i, x := range d {
			wide[i] = float64(x)
		}
		return wide
	}
	return nil
}

// input makes an input of the build that holds v.
func input(t testing.TB, b *layers.Build, name string, v *tensor.Dense) *G.Node {
	t.Helper()
	n := b.InputOf(v.Dtype(), name, v.Shape()...)
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(n, v))
	return n
}

// values runs nodes of one graph.
func values(t testing.TB, nodes ...*G.Node) [][]float64 {
	t.Helper()
	m, err := machine.New(nodes...)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	var got [][]float64
	for _, n := range nodes {
		got = append(got, floats(n.Value()))
	}
	return got
}

// apply runs a layer on x in an Eval graph, observed.
func apply(t testing.TB, p *layers.Params, l chapter.Layer, x *tensor.Dense) (out, weights []float64) {
	t.Helper()
	b := layers.NewBuild(p, layers.Eval)
	b.Observe("*")
	in := input(t, b, "x", x)
	o, err := l.Forward(b, in)
	require.NoError(t, err)
	w, err := l.Weights(b, in)
	require.NoError(t, err)
	got := values(t, o, w)
	return got[0], got[1]
}

func names(p *layers.Params) []string {
	var list []string
	for name := range p.All() {
		list = append(list, name)
	}
	return list
}
