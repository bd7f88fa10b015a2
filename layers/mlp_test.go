package layers_test

import (
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestMLPParameters(t *testing.T) {
	for layout, want := range map[layers.Layout][]string{
		"": {"gate.weight (12, 3)", "gate.bias (12)", "fc.weight (12, 3)", "fc.bias (12)", "proj.weight (3, 12)",
			"proj.bias (3)"},
		layers.Torch: {"linear_gate.weight (12, 3)", "linear_gate.bias (12)", "linear1.weight (12, 3)", "linear1.bias (12)",
			"linear2.weight (3, 12)", "linear2.bias (3)"},
		layers.GPT2: {"c_gate.weight (3, 12)", "c_gate.bias (12)", "c_fc.weight (3, 12)", "c_fc.bias (12)",
			"c_proj.weight (12, 3)", "c_proj.bias (3)"},
		layers.Llama: {"gate_proj.weight (12, 3)", "gate_proj.bias (12)", "up_proj.weight (12, 3)", "up_proj.bias (12)",
			"down_proj.weight (3, 12)", "down_proj.bias (3)"},
	} {
		c := layers.MLPConfig{EmbedDim: 3, Activation: layers.SwiGLU, Bias: true, Layout: layout}
		p := layers.NewParams(tensor.Float32, 1)
		must(layers.NewMLP(p.Scope(""), c))
		require.Equal(t, want, shapes(p))
		requireDeclared(t, p, layers.NewMLP, c)
	}
}
