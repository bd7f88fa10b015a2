package forward

import (
	"context"
	"fmt"
	"math"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The scores, log-sum-exps and visible keys of each of the chapter's layers give the library's weights.
func TestLooksGiveTheLibrarysWeights(t *testing.T) {
	for _, name := range chapter.Names() {
		dir, p, m := commandtest.LayerRun(t, name)
		b := layers.NewBuild(p, layers.Eval)
		in := b.InputOf(tensor.Int, "ids", 6)
		node := b.Of(m.Weights(b, in))
		require.NoError(t, b.Err())
		vm, err := machine.New(node)
		require.NoError(t, err)
		require.NoError(t, let(in, []int{1, 0, 3, 2, 0, 1}))
		require.NoError(t, vm.RunAll())
		want := golden.Floats(t, node.Value())

		model, err := Open(dir)
		require.NoError(t, err, name)
		got, err := model.Forward(context.Background(), Request{Text: "dbadcab"})
		require.NoError(t, err, name)
		require.Equal(t, 1, got.Cut, "the window has 6 tokens")
		require.Equal(t, "badcab", texts(got.Sequences[0].Tokens))
		require.Len(t, got.Layers, 1)
		require.Len(t, got.Next, 1)
		require.Len(t, got.Next[0], 5)
		l := got.Layers[0]
		require.Equal(t, name == "additive", l.Additive)
		for head := range l.Heads {
			require.InDeltaSlice(t, want[head*36:][:36], headWeights(t, l, head), 1e-5, "%s, head %d", name, head)
		}
	}
}

// The same holds for the layers of decoders, which have various heads, windows, sinks, positions, latents, gates and
// sigmoids. The heads of these layers can be switched off.
func TestLooksAtADecoder(t *testing.T) {
	dir, p, m := commandtest.DecoderRun(t)
	b := layers.NewBuild(p, layers.Eval)
	in := b.InputOf(tensor.Int, "ids", 6)
	b.Of(m.Forward(b, in))
	var nodes gorgonia.Nodes
	for _, call := range b.Calls("*") {
		nodes = append(nodes, b.Of(call.Weights()))
	}
	require.NoError(t, b.Err())
	vm, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, let(in, []int{1, 0, 3, 2, 0, 1}))
	require.NoError(t, vm.RunAll())

	model, err := Open(dir)
	require.NoError(t, err)
	got, err := model.Forward(t.Context(), Request{Text: "dbadcab"})
	require.NoError(t, err)
	require.Equal(t, 1, got.Cut, "the context has 6 tokens")
	require.Len(t, got.Layers, 5)
	for i, l := range got.Layers {
		require.Equal(t, []int{4, 2, 4, 4, 2}[i], l.Heads)
		require.Equal(t, []int{2, 2, 2, 4, 2}[i], l.KeyHeads)
		require.Equal(t, i == 1, l.Sinks)
		require.Equal(t, i == 4, l.Sigmoid)
		require.True(t, l.Turned, "by positions, or normalised")
		want := golden.Floats(t, nodes[i].Value())
		for head := range l.Heads {
			require.InDeltaSlice(t, want[head*36:][:36], headWeights(t, l, head), 1e-5, "%s, head %d", l.Path, head)
		}
	}
	require.Equal(t, []uint32{4, 6}, got.Layers[1].seen(0, 5), "a window of two")
	for _, r := range []Request{{Text: "badcab", Hide: []int{5}}, {Text: "badcab", Heads: []Head{{Layer: 2, Head: 3}}},
		{Text: "badcab", Heads: []Head{{Layer: 3, Head: 1}}}} {
		after, err := model.Forward(t.Context(), r)
		require.NoError(t, err)
		require.NotEqual(t, got.Next, after.Next)
	}
}

// A head of sparse attention shows the blocks that it chooses. In differential attention both softmaxes of a head are
// heads of their own; the difference of their weights is the weights of the head.
func TestLooksAtSparseAndDifferentialAttention(t *testing.T) {
	dir, p, m := commandtest.DecoderRunOf(t, `{"vocab_size": 5, "context_length": 9, "num_layers": 2,
		"pattern": [0, 1], "blocks": [
		{"attention": {"embed_dim": 8, "num_heads": 4, "num_kv_heads": 2, "sparse": {"block_size": 2, "blocks": 2}}},
		{"attention": {"embed_dim": 8, "num_heads": 2, "rope": {}, "differential": {}}}]}`)
	b := layers.NewBuild(p, layers.Eval)
	in := b.InputOf(tensor.Int, "ids", 9)
	b.Of(m.Forward(b, in))
	sparse, differential := b.Of(b.Calls("*")[0].Weights()), b.Of(b.Calls("*")[1].Weights())
	require.NoError(t, b.Err())
	vm, err := machine.New(sparse, differential)
	require.NoError(t, err)
	require.NoError(t, let(in, []int{1, 0, 3, 2, 0, 1, 4, 4, 2}))
	require.NoError(t, vm.RunAll())

	model, err := Open(dir)
	require.NoError(t, err)
	got, err := model.Forward(t.Context(), Request{Text: "badcabeec"})
	require.NoError(t, err)
	want, shown := golden.Floats(t, sparse.Value()), map[string]bool{}
	for head := range 4 {
		l := got.Layers[0]
		require.InDeltaSlice(t, want[head*81:][:81], headWeights(t, l, head), 1e-5, "head %d", head)
		shown[fmt.Sprint(l.seen(head, 8))] = true
	}
	require.Greater(t, len(shown), 1, "heads choose for themselves")
	want = golden.Floats(t, differential.Value())
	for head := range 2 {
		first, second := headWeights(t, got.Layers[1], 2*head), headWeights(t, got.Layers[1], 2*head+1)
		lambda := 1 - want[head*81] // the first query sees one key
		for i := range first {
			require.InDelta(t, want[head*81+i], first[i]-lambda*second[i], 1e-5)
		}
	}
}

// headWeights computes the weights (T, S) of a head as the page does.
func headWeights(t testing.TB, l *Layer, head int) []float64 {
	t.Helper()
	s, err := l.Summary(head)
	require.NoError(t, err)
	p, _, err := l.Head(head)
	require.NoError(t, err)
	weights := make([]float64, l.T*l.S)
	for q := range l.T {
		eachKey(l.seen(head, q), func(k int) {
			weights[q*l.S+k] = math.Exp(score(l, p, q, k) - float64(s.LSE[q]))
			if l.Sigmoid {
				weights[q*l.S+k] = 1 / (1 + math.Exp(-score(l, p, q, k)-l.SigmoidBias))
			}
		})
	}
	return weights
}

// score computes the score of a query and a key as the page does.
func score(l *Layer, p heads.Operands, q, k int) (score float64) {
	for d := range l.Width {
		x, y := float64(p.Query[q*l.Width+d]), float64(p.Key[k*l.Width+d])
		if l.Additive {
			score += float64(p.Additive[d]) * math.Tanh(x+y)
		} else {
			score += l.Scale * x * y
		}
	}
	if l.Softcap > 0 {
		score = l.Softcap * math.Tanh(score/l.Softcap)
	}
	if p.Bias != nil {
		score += float64(p.Bias[q-k+l.S-1])
	}
	for i := k + 1; i <= q && p.LogGates != nil; i++ {
		score += float64(p.LogGates[i])
	}
	return score
}

func texts(tokens []Token) (s string) {
	for _, t := range tokens {
		s += t.Text
	}
	return s
}

// A layer without heads and masks cannot be changed; all other layers can.
func TestChangesOfLayers(t *testing.T) {
	for _, name := range chapter.Names() {
		dir, _, _ := commandtest.LayerRun(t, name)
		model, err := Open(dir)
		require.NoError(t, err)
		before, err := model.Forward(context.Background(), Request{Text: "badcab"})
		require.NoError(t, err)
		for _, r := range []Request{{Text: "badcab", Hide: []int{3}}, {Text: "badcab", Heads: []Head{{Factor: 0}}}} {
			after, err := model.Forward(context.Background(), r)
			if name == "simple" || name == "additive" {
				require.EqualError(t, err, "got a change of a layer without heads and masks, want none")
				continue
			}
			require.NoError(t, err, name)
			require.NotEqual(t, before.Next, after.Next, name)
		}
	}
}

// eachKey calls f for the keys of some ranges.
func eachKey(ranges []uint32, f func(at int)) {
	for i := 0; i < len(ranges); i += 2 {
		for at := ranges[i]; at < ranges[i+1]; at++ {
			f(int(at))
		}
	}
}
