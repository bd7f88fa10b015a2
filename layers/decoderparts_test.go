package layers_test

import (
	"maps"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// rowLayer is a layer of one sequence.
type rowLayer interface {
	Forward(b *layers.Build, x *G.Node) (*G.Node, error)
}

// decoderParts are layers with parts of current decoders: those of the PyTorch file, by its names.
var decoderParts = map[string]func(s layers.Scope) (rowLayer, error){
	"mlp_geglu":      mlpPart(layers.GeGLU),
	"mlp_geglu_tanh": mlpPart(layers.GeGLUTanh),
	"mlp_relu2":      mlpPart(layers.ReLUSquared),
	"norm_offset": func(s layers.Scope) (rowLayer, error) {
		return layers.NewNorm(s, layers.NormConfig{EmbedDim: 5, Kind: layers.RMSNorm, UnitOffset: true})
	},
}

func mlpPart(a layers.Activation) func(s layers.Scope) (rowLayer, error) {
	return func(s layers.Scope) (rowLayer, error) {
		return layers.NewMLP(s, layers.MLPConfig{EmbedDim: 5, DimFeedforward: 7, Activation: a, Layout: layers.Llama})
	}
}

// The outputs and all gradients of current decoders' MLPs and norms equal PyTorch's.
func TestDecoderPartsEqualPyTorch(t *testing.T) {
	for name, make := range decoderParts {
		for _, p := range torchTypes {
			t.Run(name+"/"+p.label, func(t *testing.T) {
				c := torchCase{golden.Load(t, "torch/decoder_parts.safetensors"), name + ".", p.dt, p.tol}
				params := layers.NewParams(p.dt, 1)
				l := must(make(params.Scope("")))
				require.ElementsMatch(t, c.entries("param."), names(params))
				for _, param := range c.entries("param.") {
					require.NoError(t, params.Set(param, c.load("param."+param)))
				}
				b := layers.NewBuild(params, layers.Train)
				nodes := rowGradients(t, b, l, c.load("x"), c.load("dy"))
				entries := []string{"y", "dx"}
				for _, n := range b.Learnables() {
					entries = append(entries, "grad."+n.Name())
				}
				require.Len(t, nodes, params.Len()+2)
				for i, got := range values(t, nodes...) {
					c.near(t, entries[i], nodes[i], got)
				}
			})
		}
	}
}

// rowGradients returns the output of a layer, and the gradients of its input x and of its parameters for dy.
func rowGradients(t *testing.T, b *layers.Build, l rowLayer, x, dy *tensor.Dense) G.Nodes {
	in := input(t, b, "x", x)
	y := must(l.Forward(b, in))
	wrt := append(G.Nodes{in}, b.Learnables()...)
	return append(G.Nodes{y}, must(G.Backpropagate(G.Nodes{y}, G.Nodes{input(t, b, "dy", dy)}, wrt))...)
}

// Gorgonia's tape machine computes what package machine does, also of the norms of queries and keys.
func TestDecoderPartsOnBothMachines(t *testing.T) {
	all := maps.Clone(decoderParts)
	for name, c := range map[string]layers.AttentionConfig{
		"whole":         {QKNorm: layers.RMSNorm, QKNormWhole: true},
		"offset":        {QKNorm: layers.RMSNorm, QKNormOffset: true},
		"whole, offset": {QKNorm: layers.L2Norm, QKNormWhole: true, QKNormOffset: true, RoPE: &graph.RoPEConfig{}},
	} {
		c.EmbedDim, c.NumHeads, c.NumKVHeads, c.HeadDim, c.Mask = 5, 4, 2, 6, mask.Causal{}
		all[name] = func(s layers.Scope) (rowLayer, error) { return layers.NewAttention(s, c) }
	}
	for name, make := range all {
		for _, p := range torchTypes {
			params := layers.NewParams(p.dt, 1)
			l := must(make(params.Scope("")))
			b := layers.NewBuild(params, layers.Train)
			nodes := rowGradients(t, b, l, golden.Numbers(p.dt, 2, 3, 5), golden.Numbers(p.dt, 2, 3, 5))
			tape := G.NewTapeMachine(b.Graph())
			require.NoError(t, tape.RunAll())
			var want [][]float64
			for _, n := range nodes {
				want = append(want, golden.Floats(t, n.Value()))
			}
			require.NoError(t, tape.Close())
			require.Equal(t, want, values(t, nodes...), name)
		}
	}
}
