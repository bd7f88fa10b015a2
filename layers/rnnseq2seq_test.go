package layers_test

import (
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func tinyRNN(attn int) layers.RNNSeq2SeqConfig {
	return layers.RNNSeq2SeqConfig{SourceVocabSize: 7, TargetVocabSize: 11, EmbedDim: 3, HiddenSize: 5, AttnDim: attn}
}

// Initial values are PyTorch's to the bit; logits, the last state, attention weights and
// gradients are PyTorch's.
func TestRNNSeq2SeqEqualsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/rnnseq2seq.safetensors")
	ids := func(v []int, n int) *tensor.Dense { return of(v, 2, n) }
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		for _, c := range []struct {
			name string
			attn int
		}{{name: "plain"}, {name: "attention", attn: 13}} {
			m := must(layers.NewRNNSeq2Seq(params.Scope(c.name), tinyRNN(c.attn)))
			want := torchCase{file, c.name + "." + p.label + ".", p.dt, p.tol}
			requireParams(t, params, c.name, want)

			b := layers.NewBuild(params, layers.Train)
			source, target := input(t, b, "source", ids([]int{1, 6, 6, 0, 5, 2, 0, 0}, 4)),
				input(t, b, "target", ids([]int{10, 6, 2, 10, 1, 0}, 3))
			memory := must(m.Encode(b, source, input(t, b, "lengths", intVector(4, 2))))
			logits, after, err := m.Decode(b, target, memory)
			require.NoError(t, err)
			targets := input(t, b, "targets", ids([]int{6, 2, 0, 1, 0, graph.IgnoreTarget}, 3))
			loss := b.Of(m.Loss(b, source, target, memory.Lengths, targets))
			nodes := G.Nodes{logits, after.State, b.Of(G.Reshape(loss, tensor.Shape{1}))}
			entries := []string{"logits", "state", "loss"}
			if c.attn > 0 {
				nodes, entries = append(nodes, after.Weights), append(entries, "weights")
			} else {
				require.Nil(t, after.Weights)
			}
			grads, names := gradientsOf(t, b, loss, c.name)
			nodes, entries = append(nodes, grads...), append(entries, names...)
			for i, got := range values(t, nodes...) {
				want.near(t, entries[i], nodes[i], got)
			}
		}
	}
}

// requireParams compares the initial values of a scope's parameters with PyTorch's: to the
// bit in float32, to the last but one in float64, where C's logarithm and cosine round
// otherwise than Go's.
func requireParams(t *testing.T, params *layers.Params, scope string, want torchCase) {
	t.Helper()
	for _, name := range want.entries("param.") {
		value, ok := params.Get(scope + "." + name)
		require.True(t, ok, "%s of %s", name, scope)
		if want.dt == tensor.Float32 {
			require.Equal(t, want.load("param."+name).Data(), value.Data(), "%s of %s", name, scope)
		} else {
			golden.Close(t, name, want.file.Float64(want.prefix+"param."+name), value.Data().([]float64), 0, 4e-16)
		}
	}
}

// gradientsOf returns the gradients of a loss by some inputs and all learnables of a scope,
// and PyTorch's names of the latter.
func gradientsOf(t *testing.T, b *layers.Build, loss *G.Node, scope string, in ...*G.Node,
) (grads G.Nodes, names []string) {
	t.Helper()
	require.NoError(t, b.Err())
	for _, n := range b.Learnables() {
		in, names = append(in, n), append(names, "grad."+n.Name()[len(scope)+1:])
	}
	grads = must(G.Grad(loss, in...))
	return grads, names
}

// The tokens of a target one after the other, each with the state of the one before, give
// what all give at once; a pair without a batch is a batch of one.
func TestRNNSeq2SeqStepByStep(t *testing.T) {
	for _, attn := range []int{0, 3} {
		p := layers.NewParams(tensor.Float64, 1)
		m := must(layers.NewRNNSeq2Seq(p.Scope(""), tinyRNN(attn)))
		b := layers.NewBuild(p, layers.Eval)
		source, all := input(t, b, "source", intVector(3, 1, 6)), []int{7, 1, 0}
		memory := must(m.Encode(b, source, nil))
		if attn == 0 {
			memory.States = nil
		}
		logits, after, err := m.Decode(b, input(t, b, "all", intVector(all...)), memory)
		require.NoError(t, err)
		require.Equal(t, tensor.Shape{3, 11}, logits.Shape())
		nodes := G.Nodes{logits, after.State}
		for i, id := range all {
			logits, memory, err = m.Decode(b, input(t, b, "one"+string(rune('0'+i)), intVector(id)), memory)
			require.NoError(t, err)
			nodes = append(nodes, logits)
		}
		got := values(t, append(nodes, memory.State)...)
		require.InDeltaSlice(t, got[0][:11], got[2], 1e-14)
		require.InDeltaSlice(t, got[0][11:22], got[3], 1e-14)
		require.InDeltaSlice(t, got[0][22:], got[4], 1e-14)
		require.InDeltaSlice(t, got[1], got[5], 1e-14)
	}
}

func TestRNNSeq2SeqConfig(t *testing.T) {
	for _, attn := range []int{0, 13} {
		c := tinyRNN(attn)
		p := layers.NewParams(tensor.Float32, 1)
		m := must(layers.NewRNNSeq2Seq(p.Scope(""), c))
		require.Same(t, p, m.Params())
		requireDeclared(t, p, layers.NewRNNSeq2Seq, c)
		requireRoundTrip(t, c)
	}
	refuses(t, "RNNSeq2Seq", layers.NewRNNSeq2Seq, tinyRNN(13), refusal.Rows{
		{`{"source_vocab_size": 0}`, "SourceVocabSize: got 0, want at least 1"},
		{`{"target_vocab_size": 0}`, "TargetVocabSize: got 0, want at least 1"},
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"hidden_size": -1}`, "HiddenSize: got -1, want at least 1"},
		{`{"attn_dim": -1}`, "AttnDim: got -1, want at least 0"},
		{`{"hidden_size": 9223372036854775807}`, "HiddenSize: got 9223372036854775807, want at most 536870911"},
		{`{"hidden_size": 1048576}`,
			"HiddenSize: got 1048576 for EmbedDim=3, want at most 2147483647 elements in a weight"},
		{`{"source_vocab_size": 1, "target_vocab_size": 1, "embed_dim": 268435456}`,
			"HiddenSize: got 5 for EmbedDim=268435456, want at most 2147483647 elements in a weight"},
		{`{"attn_dim": 268435456}`,
			"AttnDim: got 268435456 for HiddenSize=5, want at most 2147483647 elements in a weight"},
	})
}

func TestRNNSeq2SeqRefusesWrongInput(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	m := must(layers.NewRNNSeq2Seq(p.Scope("rnn"), tinyRNN(13)))
	b := layers.NewBuild(p, layers.Eval)
	ids, three, float := b.InputOf(tensor.Int, "ids", 2, 3), b.InputOf(tensor.Int, "three", 3), b.Input("x", 2, 3)
	narrow, state := b.Input("narrow", 2, 4), b.Input("state", 2, 5)
	states, others := b.Input("states", 2, 7, 10), b.Input("others", 3, 7, 10)
	for _, c := range []struct {
		wantErr         string
		source, lengths *G.Node
	}{
		{wantErr: ": RNNSeq2Seq: source: got nil, want a node"},
		{": RNNSeq2Seq: source: got float64, want int or int64", float, nil},
		{".encoder: GRU: graph: GRU: lengths: shape (3), want (2)", ids, three},
	} {
		require.EqualError(t, failed(m.Encode(b, c.source, c.lengths)), "layers: rnn"+c.wantErr)
	}
	for _, c := range []struct {
		wantErr string
		target  *G.Node
		memory  layers.RNNMemory
	}{
		{"memory: got nil, want a node", ids, layers.RNNMemory{}},
		{"memory: state: shape (2, 4), want (2, 5)", ids, layers.RNNMemory{State: narrow}},
		{"memory: states: got nil, want a node", ids, layers.RNNMemory{State: state}},
		{"memory: states: shape (3, 7, 10), want the batch of target's (2, 3)", ids,
			layers.RNNMemory{State: state, States: others}},
		{"target: got nil, want a node", nil, layers.RNNMemory{State: state}},
		{"graph: MaskFill: lengths: shape (3), want (B) = (2)", ids,
			layers.RNNMemory{State: state, States: states, Lengths: three}},
	} {
		_, _, err := m.Decode(b, c.target, c.memory)
		require.EqualError(t, err, "layers: rnn: RNNSeq2Seq: "+c.wantErr)
	}
}
