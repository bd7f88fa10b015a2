package layers_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
)

// partCases are the configs of attention_parts.safetensors.
var partCases = map[string]layers.AttentionConfig{
	"sparse":         sparseAttention(6, 6, 4, 4, 3),
	"sparse_grouped": having(sparseAttention(6, 2, 4, 3, 2), turned),
	"sparse_own":     sparseAttention(2, 2, 6, 8, 1),
	"sparse_lengths": sparseAttention(3, 3, 4, 2, 4),

	"differential":         differential(3, 3, 4, 0),
	"differential_grouped": having(differential(4, 2, 8, 0.7), turned),
	"differential_lengths": differential(3, 1, 4, 0.8-0.6*math.Exp(-0.3)),
}

func differential(heads, keyHeads, width int, init float64) layers.AttentionConfig {
	return layers.AttentionConfig{EmbedDim: 11, NumHeads: heads, NumKVHeads: keyHeads, HeadDim: width, Layout: layers.Llama,
		Mask: mask.Causal{}, Differential: &layers.DifferentialConfig{LambdaInit: init}}
}

func sparseAttention(heads, keyHeads, width, size, blocks int) layers.AttentionConfig {
	return layers.AttentionConfig{EmbedDim: 11, NumHeads: heads, NumKVHeads: keyHeads, HeadDim: width, Layout: layers.Llama,
		Mask: mask.Causal{}, Sparse: &graph.BlockSparse{BlockSize: size, Blocks: blocks}}
}

func turned(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{Interleaved: true} }

// Sparse and differential attention equal plain PyTorch, either form, with all gradients.
func TestAttentionPartsEqualPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/attention_parts.safetensors")
	for name, config := range partCases {
		for _, p := range torchTypes {
			c := attentionCase{torchCase: torchCase{file, name + ".", p.dt, p.tol}, config: config}
			c.all = c.entries("")
			for _, withWeights := range []bool{true, false} {
				c.test(t, withWeights, false)
			}
		}
	}
}
