package machine_test

import (
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A product needs no memory of its own if it is only transposed or scaled by a power of two. A product whose value is
// needed does.
func TestProductsAreWrittenAsTheyAreRead(t *testing.T) {
	g := G.NewGraph()
	q, k := input(g, "q", ramp(tensor.Float32, 2, 3, 5, 8)), input(g, "k", ramp(tensor.Float32, 2, 3, 7, 8))
	scores := must(t)(G.BatchedMatMul(q, k, false, true))
	scaled := must(t)(G.HadamardProd(scores, G.NewConstant(float32(0.125))))
	merged := must(t)(G.Transpose(must(t)(G.BatchedMatMul(scaled, k)), 0, 2, 1, 3))
	const ofScores, ofMerged = 4 * 2 * 3 * 5 * 7, 4 * 2 * 3 * 5 * 8 // bytes
	for _, c := range []struct {
		name   string
		wanted G.Nodes
		sum    int
	}{
		{name: "scaled", wanted: G.Nodes{scaled}, sum: ofScores},
		{name: "both", wanted: G.Nodes{scaled, scores}, sum: 2 * ofScores},
		{name: "transposed, of scaled", wanted: G.Nodes{merged}, sum: ofScores + ofMerged},
	} {
		m, err := machine.New(c.wanted...)
		require.NoError(t, err)
		require.Equal(t, c.sum, m.Memory().Sum, c.name)
		require.NoError(t, m.RunAll())
	}
}
