package layers_test

import (
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The initial values of layers made one after another from seed 123 equal those of torch.nn.MultiheadAttention, to the
// bit, except that the last bits of normally distributed values depend on the C library's functions.
func TestInitialValuesOfAttentionArePyTorchs(t *testing.T) {
	file := golden.Load(t, attentionFile)
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		for _, l := range []struct {
			scope  string
			config layers.AttentionConfig
		}{
			{"packed", layers.AttentionConfig{EmbedDim: 15, NumHeads: 3, QKVBias: true, OutBias: true}},
			{"no_bias", layers.AttentionConfig{EmbedDim: 15, NumHeads: 3}},
			{"separate", layers.AttentionConfig{EmbedDim: 15, NumHeads: 3, KDim: 11, VDim: 13, QKVBias: true, OutBias: true}},
			{"bias_kv", layers.AttentionConfig{EmbedDim: 14, NumHeads: 2, QKVBias: true, OutBias: true, AddBiasKV: true}},
			{"bias_kv_wide", layers.AttentionConfig{EmbedDim: 22, NumHeads: 2, AddBiasKV: true, KDim: 3}},
		} {
			l.config.Layout = layers.Torch
			must(layers.NewAttention(params.Scope(l.scope), l.config))
		}
		require.ElementsMatch(t, torchCase{file: file, prefix: "init." + p.label + "."}.entries(""), names(params))
		for name, v := range params.All() {
			entry := "init." + p.label + "." + name
			require.Equal(t, file.Shape(entry), []int(v.Shape()), name)
			tol := 0.0
			if strings.Contains(name, ".bias_") {
				tol = map[tensor.Dtype]float64{tensor.Float32: 0x1p-22, tensor.Float64: 0x1p-51}[p.dt] // 2 units in the last place
			}
			golden.Close(t, entry, file.Float64(entry), golden.Floats(t, v), 0, tol)
		}
	}
}
