package layers_test

import (
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// rowLayer is a layer of one sequence.
type rowLayer interface {
	Forward(b *layers.Build, x *G.Node) (*G.Node, error)
}

// The outputs and all gradients of today's decoders' MLPs and norms are PyTorch's.
func TestDecoderPartsEqualPyTorch(t *testing.T) {
	mlp := func(a layers.Activation) func(s layers.Scope) (rowLayer, error) {
		return func(s layers.Scope) (rowLayer, error) {
			return layers.NewMLP(s, layers.MLPConfig{EmbedDim: 5, DimFeedforward: 7, Activation: a, Layout: layers.Llama})
		}
	}
	for name, make := range map[string]func(s layers.Scope) (rowLayer, error){
		"mlp_geglu": mlp(layers.GeGLU), "mlp_geglu_tanh": mlp(layers.GeGLUTanh), "mlp_relu2": mlp(layers.ReLUSquared),
		"norm_offset": func(s layers.Scope) (rowLayer, error) {
			return layers.NewNorm(s, layers.NormConfig{EmbedDim: 5, Kind: layers.RMSNorm, UnitOffset: true})
		},
	} {
		for _, p := range torchTypes {
			t.Run(name+"/"+p.label, func(t *testing.T) {
				c := torchCase{golden.Load(t, "torch/decoder_parts.safetensors"), name + ".", p.dt, p.tol}
				params := layers.NewParams(p.dt, 1)
				l, err := make(params.Scope(""))
				require.NoError(t, err)
				require.ElementsMatch(t, c.entries("param."), names(params))
				for _, param := range c.entries("param.") {
					require.NoError(t, params.Set(param, c.load("param."+param)))
				}
				b := layers.NewBuild(params, layers.Train)
				x := input(t, b, "x", c.load("x"))
				y, err := l.Forward(b, x)
				require.NoError(t, err)
				wrt, entries := G.Nodes{x}, []string{"y", "dx"}
				for _, n := range b.Learnables() {
					wrt, entries = append(wrt, n), append(entries, "grad."+n.Name())
				}
				require.Len(t, wrt, params.Len()+1)
				grads, err := G.Backpropagate(G.Nodes{y}, G.Nodes{input(t, b, "dy", c.load("dy"))}, wrt)
				require.NoError(t, err)
				nodes := append(G.Nodes{y}, grads...)
				for i, got := range values(t, nodes...) {
					c.near(t, entries[i], nodes[i], got)
				}
			})
		}
	}
}
