package layers_test

import (
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Blank parameters are those of the others, but 0, and draw nothing.
func TestBlankParams(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 5, ContextLength: 7, EmbedDim: 6, NumLayers: 2, NumHeads: 3, Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		drawn, blank := layers.NewParams(dt, 1), layers.NewBlankParams(dt)
		_, err := layers.NewGPT(drawn.Scope(""), c)
		require.NoError(t, err)
		_, err = layers.NewGPT(blank.Scope(""), c)
		require.NoError(t, err)
		require.Equal(t, names(drawn), names(blank))
		for name, v := range blank.All() {
			like, _ := drawn.Get(name)
			require.Equal(t, tensor.New(tensor.Of(dt), tensor.WithShape(like.Shape()...)).Data(), v.Data(), name)
		}
	}
}
