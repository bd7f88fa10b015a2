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
