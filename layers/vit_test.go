package layers_test

import (
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func tinyViT() layers.ViTConfig {
	return layers.ViTConfig{Height: 6, Width: 4, Channels: 3, PatchSize: 2, EmbedDim: 8, NumLayers: 2, NumHeads: 2,
		DimFeedforward: 7, NumClasses: 5}
}

// Initial values are PyTorch's to the bit; logits and gradients are PyTorch's, whose
// patches a convolution cuts.
func TestViTEqualsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/vit.safetensors")
	const not = graph.IgnoreTarget
	classes := of([]int{4, 0, not, 1, 1, 2, not, not, 3, 0, 2, not}, 2, 6)
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		for _, c := range []struct {
			name string
			seen mask.Mask
		}{{name: "all"}, {name: "own", seen: mask.SlidingWindow{}}} {
			m := must(layers.NewViT(params.Scope(c.name), tinyViT()))
			want := torchCase{file, c.name + "." + p.label + ".", p.dt, p.tol}
			requireParams(t, params, c.name, want)
			params.Draw(layers.Normal(0, 1), 2, 6, 4, 3) // as PyTorch draws the picture

			b := layers.NewBuild(params, layers.Train)
			picture := input(t, b, "picture", want.load("picture"))
			logits := b.Of(m.Forward(b, picture, c.seen))
			loss := b.Of(m.Loss(b, picture, input(t, b, "classes", classes), c.seen))
			grads, names := gradientsOf(t, b, loss, c.name, picture)
			nodes := append(G.Nodes{logits, b.Of(G.Reshape(loss, tensor.Shape{1}))}, grads...)
			entries := append([]string{"logits", "loss", "dpicture"}, names...)
			for i, got := range values(t, nodes...) {
				want.near(t, entries[i], nodes[i], got)
			}
		}
	}
}

func TestViTConfig(t *testing.T) {
	c := tinyViT()
	p := layers.NewParams(tensor.Float32, 1)
	m := must(layers.NewViT(p.Scope(""), c))
	require.Same(t, p, m.Params())
	requireDeclared(t, p, layers.NewViT, c)
	requireRoundTrip(t, c)
	refuses(t, "ViT", layers.NewViT, tinyViT(), refusal.Rows{
		{`{"height": 0}`, "Height: got 0, want at least 1"},
		{`{"height": 7}`, "Height: got 7, want a multiple of PatchSize=2"},
		{`{"width": 5}`, "Width: got 5, want a multiple of PatchSize=2"},
		{`{"width": 9223372036854775807}`, "Width: got 9223372036854775807, want at most 16384"},
		{`{"channels": -3}`, "Channels: got -3, want at least 1"},
		{`{"patch_size": 0}`, "PatchSize: got 0, want at least 1"},
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"num_layers": 0}`, "NumLayers: got 0, want at least 1"},
		{`{"num_heads": 3}`, "NumHeads: got 3, want a divisor of EmbedDim=8"},
		{`{"num_classes": 0}`, "NumClasses: got 0, want at least 1"},
		{`{"num_classes": 2147483647}`,
			"NumClasses: got 2147483647 for EmbedDim=8, want at most 2147483647 elements in a weight"},
		{`{"dim_feedforward": -1}`, "DimFeedforward: got -1, want at least 0"},
		{`{"dropout": 1}`, "Dropout: got 1, want a number from 0 to below 1"},
	})
}

func TestViTRefusesWrongInput(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	m := must(layers.NewViT(p.Scope("eye"), tinyViT()))
	b := layers.NewBuild(p, layers.Eval)
	for _, c := range []struct {
		wantErr string
		picture *G.Node
		seen    mask.Mask
	}{
		{wantErr: "eye: ViT: picture: got nil, want a node"},
		{wantErr: "eye: ViT: picture: shape (6, 4), want ([B,] 6, 4, 3)", picture: b.Input("a", 6, 4)},
		{wantErr: "eye: ViT: picture: shape (2, 4, 6, 3), want ([B,] 6, 4, 3)", picture: b.Input("b", 2, 4, 6, 3)},
		{wantErr: "eye: ViT: picture: got float64, want float32 as the parameters",
			picture: b.InputOf(tensor.Float64, "c", 6, 4, 3)},
		{wantErr: "eye.encoder.layers.0.self_attn: Attention: graph: FusedAttention: mask: got a window of -1",
			picture: b.Input("d", 6, 4, 3),
			seen:    mask.SlidingWindow{Left: -1}},
	} {
		_, err := m.Forward(b, c.picture, c.seen)
		require.ErrorContains(t, err, "layers: "+c.wantErr)
	}
	_, err := m.Loss(b, b.Input("picture", 2, 6, 4, 3), b.InputOf(tensor.Int, "classes", 2, 5), nil)
	require.EqualError(t, err, "layers: eye: ViT: graph: CrossEntropy: targets: shape (2, 5), want (2, 6)")
}
