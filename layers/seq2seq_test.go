package layers_test

import (
	"testing"

	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func newSeq2Seq(t testing.TB, c layers.Seq2SeqConfig) (*layers.Seq2Seq, *layers.Params) {
	t.Helper()
	p := layers.NewParams(tensor.Float64, 1)
	m := must(layers.NewSeq2Seq(p.Scope(""), c))
	require.Equal(t, c, m.Config())
	return m, p
}

// intVector is a vector of ints.
func intVector(v ...int) *tensor.Dense {
	return of(v, len(v))
}

func TestSeq2SeqCount(t *testing.T) {
	for i := range 16 {
		c := tinySeq2Seq()
		c.TargetVocabSize, c.NumDecoderLayers = 13, 2
		c.ShareEmbeddings, c.TieWordEmbeddings, c.Sinusoidal, c.PostNorm = i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0
		_, p := newSeq2Seq(t, c)
		requireDeclared(t, p, layers.NewSeq2Seq, c)
		requireRoundTrip(t, c)
	}
}

// A pair without a batch is a batch of one; Encode and Decode are the halves of Forward.
func TestSeq2SeqHalves(t *testing.T) {
	c := tinySeq2Seq()
	c.Sinusoidal = true
	m, p := newSeq2Seq(t, c)
	b := layers.NewBuild(p, layers.Eval)
	whole := must(m.Forward(b, input(t, b, "sources", sequences(1, 5)),
		input(t, b, "targets", of([]int{7, 1, 0}, 1, 3)), nil))
	memory := must(m.Encode(b, input(t, b, "source", sequences(0, 5)), nil))
	require.Equal(t, tensor.Shape{5, 12}, memory.Shape())
	logits := must(m.Decode(b, input(t, b, "target", intVector(7, 1, 0)), memory, nil))
	require.Equal(t, tensor.Shape{3, 11}, logits.Shape())
	got := values(t, whole, logits)
	require.InDeltaSlice(t, got[0], got[1], 1e-14)
}

// Dropout is where nn.Transformer has it, and of both embeddings, and in no Eval graph.
func TestSeq2SeqDropout(t *testing.T) {
	c := tinySeq2Seq()
	c.Dropout = 0.5
	m, p := newSeq2Seq(t, c)
	for mode, sites := range map[layers.Mode]int{
		layers.Eval:  0,
		layers.Train: 2 + 4 + 6, // embeddings, attention and MLP of the encoder, two attentions and MLP of the decoder
	} {
		b := layers.NewBuild(p, mode)
		must(m.Forward(b, input(t, b, "source", sequences(2, 3)), input(t, b, "target", of([]int{0, 1}, 2, 1)), nil))
		if mode == layers.Eval {
			require.Nil(t, b.DropoutKey())
			continue
		}
		require.Equal(t, sites+1, b.Drop(0.5).Site, "dropouts before this one")
	}
}

func TestSeq2SeqRefuses(t *testing.T) {
	refuses(t, "Seq2Seq", layers.NewSeq2Seq, tinySeq2Seq(), refusal.Rows{
		{`{"source_vocab_size": 0}`, "SourceVocabSize: got 0, want at least 1"},
		{`{"target_vocab_size": 0}`, "TargetVocabSize: got 0, want at least 1"},
		{`{"context_length": 0}`, "ContextLength: got 0, want at least 1"},
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"num_encoder_layers": 0}`, "NumEncoderLayers: got 0, want at least 1"},
		{`{"num_decoder_layers": 0}`, "NumDecoderLayers: got 0, want at least 1"},
		{`{"num_heads": 0}`, "NumHeads: got 0, want at least 1"},
		{`{"target_vocab_size": 2147483647}`,
			"TargetVocabSize: got 2147483647 for EmbedDim=12, want at most 2147483647 elements in a weight"},
		{`{"share_embeddings": true}`, "TargetVocabSize: got 11, want SourceVocabSize=13, since embeddings are shared"},
		{`{"sinusoidal": true, "embed_dim": 9}`, "EmbedDim: got 9, want an even one for sinusoidal positions"},
		{`{"num_heads": 5}`, "NumHeads: got 5, want a divisor of EmbedDim=12"},
		{`{"activation": "tanh"}`,
			`Activation: got "tanh", want one of gelu, gelu_tanh, relu, relu2, silu, swiglu, geglu, geglu_tanh`},
		{`{"dropout": 1}`, "Dropout: got 1, want a number from 0 to below 1"},
		{`{"dim_feedforward": -1}`, "DimFeedforward: got -1, want at least 0"},
		{`{"embed_dim": 9223372036854775807}`,
			"SourceVocabSize: got 13 for EmbedDim=9223372036854775807, want at most 2147483647 elements in a weight"},
	})
	m, p := newSeq2Seq(t, tinySeq2Seq())
	b := layers.NewBuild(p, layers.Eval)
	source, target := input(t, b, "source", sequences(2, 5)), input(t, b, "target", sequences(2, 3))
	long := input(t, b, "long", sequences(2, 8))
	three := input(t, b, "lengths", intVector(1, 2, 3))
	for _, in := range []struct {
		wantErr                 string
		source, target, lengths *G.Node
	}{
		{wantErr: "layers: Seq2Seq: source: got nil, want a node", target: target},
		{wantErr: "layers: Seq2Seq: target: got nil, want a node", source: source},
		{wantErr: "layers: Seq2Seq: source: shape (2, 8), want ([B,] T <= ContextLength=7", source: long, target: target},
		{wantErr: "layers: Seq2Seq: target: shape (2, 8), want ([B,] T <= ContextLength=7", source: source, target: long},
		{wantErr: "lengths: shape (3), want (B) = (2)", source: source, target: target, lengths: three},
	} {
		_, err := m.Forward(b, in.source, in.target, in.lengths)
		require.ErrorContains(t, err, in.wantErr)
		_, err = m.Loss(b, in.source, in.target, in.lengths, target)
		require.ErrorContains(t, err, in.wantErr)
	}
	require.EqualError(t, failed(m.Decode(b, nil, target, nil)), "layers: Seq2Seq: target: got nil, want a node")
	_, err := m.Decode(b, target, nil, nil)
	require.ErrorContains(t, err, "layers: transformer.decoder.layers.0: DecoderBlock: memory: got nil, want a node")
}
