package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// site is the place at which a wrong layer is made, or a layer is called wrongly.
type site struct {
	t  *testing.T
	at string
	s  layers.Scope
	b  *layers.Build
}

// x is an input of the graph.
func (c site) x(shape ...int) *G.Node {
	return input(c.t, c.b, fmt.Sprint("x ", shape), golden.Numbers(tensor.Float32, shape...))
}

// ids are an input of the graph, all 0.
func (c site) ids(shape ...int) *G.Node {
	return input(c.t, c.b, fmt.Sprint("ids ", shape), tensor.New(tensor.WithShape(shape...), tensor.Of(tensor.Int)))
}

// misplaced is an error and the path, below the scope, at which it arose.
type misplaced struct {
	at, wantErr string
	err         func(c site) error
}

// requirePlaces checks that the errors begin with their path in the model, at the root
// of the parameters and below it.
func requirePlaces(t *testing.T, cases []misplaced) {
	for _, scope := range []string{"", "lm.h.3"} {
		for _, c := range cases {
			p := layers.NewParams(tensor.Float32, 1)
			at := strings.Trim(scope+"."+c.at, ".")
			if at != "" {
				at += ": "
			}
			err := c.err(site{t, c.at, p.Scope(scope), layers.NewBuild(p, layers.Eval)})
			require.EqualError(t, err, "layers: "+at+c.wantErr)
		}
	}
}

// creating is the error of a constructor at the row's path.
func creating[C, L any](create func(layers.Scope, C) (L, error), c C) func(site) error {
	return func(s site) error { return failed(create(s.s.Sub(s.at), c)) }
}

// The error of a constructor is that of Validate at the layer's path.
func TestErrorsOfConstructorsSayWhere(t *testing.T) {
	const heads = "NumHeads: got 5, want a divisor of OutDim=12"
	fiveHeads := layers.AttentionConfig{EmbedDim: 12, NumHeads: 5}
	narrow, gpt, seq2seq := gptBlock(), tinyGPT(), tinySeq2Seq()
	narrow.MLP.EmbedDim, gpt.NumHeads, seq2seq.NumHeads = 5, 5, 5
	requirePlaces(t, []misplaced{
		{"", "Linear: OutFeatures: got 0, want at least 1", creating(layers.NewLinear, layers.LinearConfig{InFeatures: 2})},
		{"ln", "Norm: EmbedDim: got 0, want at least 1", creating(layers.NewNorm, layers.NormConfig{})},
		{"", "MLP: EmbedDim: got 0, want at least 1", creating(layers.NewMLP, layers.MLPConfig{})},
		{"attn", "Attention: " + heads, creating(layers.NewAttention, fiveHeads)},
		{"", "AdditiveAttention: QueryDim: got 0, want at least 1",
			creating(layers.NewAdditiveAttention, layers.AdditiveAttentionConfig{})},
		{"", "Block: Attention." + heads, creating(layers.NewBlock, layers.BlockConfig{Attention: fiveHeads})},
		{"", "DecoderBlock: Block.MLP.EmbedDim: got 5, want Block.Attention.EmbedDim=12",
			creating(layers.NewDecoderBlock, layers.DecoderBlockConfig{Block: narrow})},
		{"", "DecoderBlock: Cross." + heads,
			creating(layers.NewDecoderBlock, layers.DecoderBlockConfig{Block: gptBlock(), Cross: fiveHeads})},
		{"", "GPT: NumHeads: got 5, want a divisor of EmbedDim=12", creating(layers.NewGPT, gpt)},
		{"", "Seq2Seq: NumHeads: got 5, want a divisor of EmbedDim=12", creating(layers.NewSeq2Seq, seq2seq)},
	})
}

// The error of a Forward is that of the innermost layer that returned it, with the layer's path.
func TestErrorsOfForwardSayWhere(t *testing.T) {
	const thin = "shape (2, 3, 5), want ([B,] T, 12)"
	book := gptBlock()
	book.Attention.Layout, book.MLP.Layout = layers.Book, layers.Book
	requirePlaces(t, []misplaced{
		{"head", "Linear: graph: Linear: weight: shape (7, 12), want (Out, In=5)", func(c site) error {
			l := must(layers.NewLinear(c.s.Sub("head"), layers.LinearConfig{InFeatures: 12, OutFeatures: 7}))
			return failed(l.Forward(c.b, c.x(2, 3, 5)))
		}},
		{"", "Norm: x: " + thin, func(c site) error {
			return failed(must(layers.NewNorm(c.s, layers.NormConfig{EmbedDim: 12})).Forward(c.b, c.x(2, 3, 5)))
		}},
		{"", "MLP: x: " + thin, func(c site) error {
			return failed(must(layers.NewMLP(c.s, layers.MLPConfig{EmbedDim: 12})).Forward(c.b, c.x(2, 3, 5)))
		}},
		{"attn", "Attention: query: " + thin, func(c site) error {
			l := must(layers.NewAttention(c.s.Sub("attn"),
				layers.AttentionConfig{EmbedDim: 12, NumHeads: 2, ContextOnly: true, Layout: layers.PerHead}))
			return failed(l.Forward(c.b, c.x(2, 3, 5)))
		}},
		{"", "AdditiveAttention: key: got nil, want a node", func(c site) error {
			l := must(layers.NewAdditiveAttention(c.s, layers.AdditiveAttentionConfig{QueryDim: 12, KeyDim: 3, AttnDim: 2}))
			return failed(l.Forward(c.b, c.x(2, 3, 12), nil))
		}},
		{"attn", "Attention: query: " + thin, func(c site) error {
			block := must(layers.NewBlock(c.s, postNorm(gptBlock)()))
			return failed(block.Forward(c.b, layers.AttentionInput{Query: c.x(2, 3, 5)}))
		}},
		{"attn", "Attention: graph: FusedAttention: lengths: shape (5), want (B) = (2)", func(c site) error {
			in := layers.AttentionInput{Query: c.x(2, 3, 12), Mask: mask.KeyLengths{Lengths: c.ids(5)}}
			return failed(must(layers.NewBlock(c.s, book)).Forward(c.b, in))
		}},
		{"cross_attn", "Attention: key: shape (2, 7, 5), want ([B,] S, 12)", func(c site) error {
			block := gptBlock()
			block.Attention.Layout = layers.Book
			l := must(layers.NewDecoderBlock(c.s, layers.DecoderBlockConfig{Block: block}))
			return failed(l.Forward(c.b, c.x(2, 3, 12), c.x(2, 7, 5), nil, nil))
		}},
		{"", "DecoderBlock: memory: got nil, want a node", func(c site) error {
			l := must(layers.NewDecoderBlock(c.s, layers.DecoderBlockConfig{Block: gptBlock()}))
			return failed(l.Forward(c.b, c.x(2, 3, 12), nil, nil, nil))
		}},
		{"", "GPT: ids: shape (2, 13), want ([B,] T <= ContextLength=11)", func(c site) error {
			return failed(must(layers.NewGPT(c.s, tinyGPT())).Forward(c.b, c.ids(2, 13)))
		}},
		{"", "GPT: graph: LinearCrossEntropy: targets: shape (2, 5), want (2, 3)", func(c site) error {
			return failed(must(layers.NewGPT(c.s, tinyGPT())).Loss(c.b, c.ids(2, 3), c.ids(2, 5)))
		}},
		{"", "GPT: graph: PositionRows: start: got float32, want int or int64", func(c site) error {
			m := must(layers.NewGPT(c.s, tinyGPT()))
			return failed(m.ForwardCached(c.b, c.ids(2, 3), c.x(1), must(m.NewCache(graph.KVCacheConfig{Batch: 2}))))
		}},
		{"transformer.wpe.weight", "got a parameter of another set, want one of the build's own Params", func(c site) error {
			c.b = layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval)
			return failed(must(layers.NewGPT(c.s, tinyGPT())).Forward(c.b, c.ids(2, 3)))
		}},
		{"transformer.decoder.layers.0.multihead_attn", "Attention: key: shape (2, 7, 5), want ([B,] S, 12)",
			func(c site) error {
				return failed(must(layers.NewSeq2Seq(c.s, tinySeq2Seq())).Decode(c.b, c.ids(2, 3), c.x(2, 7, 5), nil))
			}},
		{"", "Seq2Seq: graph: CrossEntropy: targets: shape (2, 5), want (2, 3)", func(c site) error {
			return failed(must(layers.NewSeq2Seq(c.s, tinySeq2Seq())).Loss(c.b, c.ids(2, 7), c.ids(2, 3), nil, c.ids(2, 5)))
		}},
	})
}

// If one of twelve blocks is wrong, the error names this block.
func TestErrorsNameTheBlock(t *testing.T) {
	config := tinyGPT()
	config.NumLayers = 12
	p := layers.NewParams(tensor.Float32, 1)
	must(p.Scope("lm.transformer.h.3.attn").Sub("c_proj").Param("weight", layers.Init{}, 1))
	_, err := layers.NewGPT(p.Scope("lm"), config)
	require.EqualError(t, err, `layers: parameter "lm.transformer.h.3.attn.c_proj.weight" is there already`)

	p = layers.NewParams(tensor.Float32, 1)
	b := layers.NewBuild(p, layers.Eval)
	x := input(t, b, "x", golden.Numbers(tensor.Float32, 2, 3, 12))
	for i := range 12 {
		c := gptBlock()
		if i == 3 {
			c.Attention.RoPE = &graph.RoPEConfig{}
		}
		block := must(layers.NewBlock(p.Scope(fmt.Sprintf("h.%d", i)), c))
		in := layers.AttentionInput{Query: x}
		if i == 3 {
			in.Positions = input(t, b, "positions", intVector(1, 2))
		}
		if x, err = block.Forward(b, in); err != nil {
			break
		}
	}
	require.EqualError(t, err,
		"layers: h.3.attn: Attention: graph: RoPE: positions: shape (2), want (), (3), (2, 3) or (2, 1)")
	var shape *graph.ShapeError
	require.ErrorAs(t, err, &shape)
	require.Equal(t, "positions", shape.Arg)
}
