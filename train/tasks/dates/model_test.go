package dates

import (
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Each character of the ISO date attends to the characters of the written date, with weights that add up to 1.
func TestCrossWeights(t *testing.T) {
	m := must(New(layers.NewParams(tensor.Float32, 3).Scope(""), Config{EmbedDim: 6, NumHeads: 2, NumLayers: 2}))
	heads := must(m.CrossWeights(Pair{Written: "6.8.1963", ISO: "1963-08-06"}))
	require.Len(t, heads, 2)
	require.NotEqual(t, heads[0], heads[1])
	for _, weights := range heads {
		require.Len(t, weights, ISOLength*len("6.8.1963"))
		for i := range ISOLength {
			sum := 0.0
			for _, w := range weights[i*len("6.8.1963"):][:len("6.8.1963")] {
				sum += w
			}
			require.InDelta(t, 1, sum, 1e-6)
		}
	}
	_, err := m.CrossWeights(Pair{Written: "é", ISO: "1963-08-06"})
	require.Error(t, err, "a character that no date has")
}
