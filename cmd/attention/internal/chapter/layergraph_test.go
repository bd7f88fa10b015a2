package chapter

import (
	"testing"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TestComposed: the graph that is drawn of a layer computes what the layer does.
func TestComposed(t *testing.T) {
	for _, s := range chapter.Sections() {
		c := s.Layer()
		if c.Layer == "" || len(s.Words) == 0 {
			continue
		}
		p := layers.NewParams(tensor.Float64, 5)
		b := layers.NewBuild(p, layers.Eval)
		x := b.Input("x", 6, 3)
		require.NoError(t, G.Let(x, p.Draw(layers.Normal(0, 1), 6, 3)))
		out, own, err := composed(b, c, x)
		require.NoError(t, err)
		m, err := machine.New(out, own)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		values := func(n *G.Node) []float64 { return dense.Float64s(n.Value().(*tensor.Dense)) }
		require.InDeltaSlice(t, values(own), values(out), 1e-12, c.Layer)
	}
}
