package gradcases_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/gradcheck"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestCheck(t *testing.T) {
	x := gradcases.Float("x", 2, 3)
	positive := x
	positive.Positive = true
	zero := func(in G.Nodes) (*G.Node, error) { return graph.Scale(in[0], 0) }
	for _, row := range []struct {
		reason string
		c      gradcases.Case
		ok     bool
		err    string
	}{
		{reason: "a right gradient", c: gradcases.Case{Inputs: []gradcases.Input{x},
			Apply: func(in G.Nodes) (*G.Node, error) { return G.Neg(in[0]) }}, ok: true},
		{reason: "Gorgonia's gradient of 1/√x is wrong", c: gradcases.Case{Inputs: []gradcases.Input{positive},
			Apply: func(in G.Nodes) (*G.Node, error) { return G.InverseSqrt(in[0]) }}},
		{reason: "an op that loses its input", c: gradcases.Case{Inputs: []gradcases.Input{x}, Apply: zero},
			err: "gradcheck: all derivatives are 0, want some that are not"},
		{reason: "an op of constant output", c: gradcases.Case{Inputs: []gradcases.Input{x}, Apply: zero, Flat: true},
			ok: true},
		{reason: "an op that cannot be built", c: gradcases.Case{Apply: func(G.Nodes) (*G.Node, error) {
			return nil, errors.New("no such op")
		}}, err: "no such op"},
	} {
		for _, dt := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			report, err := row.c.Check(dt, gradcheck.Config{Seed: 1})
			if row.err != "" {
				require.EqualError(t, err, row.err, row.reason)
				continue
			}
			require.NoError(t, err, row.reason)
			require.Equal(t, row.ok, report.OK(), row.reason)
		}
	}
}

func TestCheckAll(t *testing.T) {
	x, y := gradcases.Float("x", 2, 3), gradcases.Float("y", 2)
	first := func(in G.Nodes) (*G.Node, error) { return graph.Tanh(in[0]) }
	right := gradcases.Case{Op: "Tanh", About: "(2, 3)", Inputs: []gradcases.Input{x}, Apply: first}
	require.NoError(t, gradcases.CheckAll([]gradcases.Case{right}))
	unused, wrong, none := right, right, right
	unused.About, unused.Inputs = "of another", []gradcases.Input{x, y}
	wrong.About, wrong.Apply = "wrong", func(in G.Nodes) (*G.Node, error) { return G.InverseSqrt(in[0]) }
	wrong.Inputs = []gradcases.Input{{Name: "x", Shape: []int{2, 3}, Positive: true}}
	none.About, none.Inputs = "of nothing", []gradcases.Input{gradcases.Fixed("x", []float64{1, 2}, 2)}
	for _, row := range []struct {
		cases []gradcases.Case
		want  string
	}{
		{cases: []gradcases.Case{right, right}, want: "Tanh, (2, 3): got it twice, want a name for each"},
		{cases: []gradcases.Case{right, unused},
			want: "Tanh, of another (float64): input y: got one that has no part in the output"},
		{cases: []gradcases.Case{wrong}, want: "Tanh, wrong (float64): gradcheck: 1 of 1 gradients are wrong: x (2, 3)"},
		{cases: []gradcases.Case{none},
			want: "Tanh, of nothing (float64): gradcheck: wrt: got no node, want at least one input"},
	} {
		require.ErrorContains(t, gradcases.CheckAll(row.cases), "gradcases: "+row.want)
	}
}

// The values of an input are the same in both types.
func TestNodesAgreeInBothTypes(t *testing.T) {
	inputs := []gradcases.Input{gradcases.Float("x", 2, 3), gradcases.Fixed("f", []float64{1, 0.1}, 2),
		gradcases.IDs("ids", []int{4, 5}, 2), gradcases.Key(), {Name: "c", Shape: []int{3}, Constant: true}}
	c := gradcases.Case{Inputs: inputs, Apply: func(in G.Nodes) (*G.Node, error) { return in[0], nil }}
	values := map[tensor.Dtype][]float64{}
	for _, dt := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		_, wrt, err := c.Build(dt, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, err)
		require.Len(t, wrt, 1, "only x has a gradient")
		for i := range 6 {
			switch v := wrt[0].Value().Data().(type) {
			case []float64:
				values[dt] = append(values[dt], v[i])
			case []float32:
				values[dt] = append(values[dt], float64(v[i]))
			}
		}
	}
	require.Len(t, values[tensor.Float64], 6)
	require.Equal(t, values[tensor.Float64], values[tensor.Float32])
}
