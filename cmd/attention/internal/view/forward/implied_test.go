package forward

import (
	"fmt"
	"math"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Linear attention has the weights that its states imply, their statistics, and the norms of the states. Its layers are
// in the list with the others.
func TestLooksAtLinearAttention(t *testing.T) {
	dir, p, m := commandtest.DecoderRunOf(t, `{"vocab_size": 5, "context_length": 9, "num_layers": 3,
		"pattern": [0, 1, 0], "blocks": [
		{"attention": {"embed_dim": 8, "num_heads": 4, "num_kv_heads": 2},
		 "linear": {"delta": true, "decay": "head", "qk_norm": true, "norm": true}},
		{"attention": {"embed_dim": 8, "num_heads": 2}}]}`)
	b := layers.NewBuild(p, layers.Eval)
	in := b.InputOf(tensor.Int, "ids", 9)
	b.Of(m.Forward(b, in))
	call := b.LinearCalls("*")[1]
	operands, err := call.Operands()
	require.NoError(t, err)
	weights, c := b.Of(call.Weights()), operands.Config
	require.NoError(t, b.Err())
	vm, err := machine.New(weights, operands.Query, operands.Key, operands.Value, c.Decay, c.Beta)
	require.NoError(t, err)
	require.NoError(t, let(in, []int{1, 0, 3, 2, 0, 1, 4, 4, 2}))
	require.NoError(t, vm.RunAll())

	model, err := Open(dir)
	require.NoError(t, err)
	got, err := model.Forward(t.Context(), Request{Text: "badcabeec"})
	require.NoError(t, err)
	require.Len(t, got.Layers, 3)
	for i, l := range got.Layers {
		require.Equal(t, fmt.Sprintf("model.layers.%d.self_attn", i), l.Path)
		require.Equal(t, []bool{i != 1, i != 1}, []bool{l.Linear, l.Fixed})
	}
	l, below := got.Layers[2], false
	want := golden.Floats(t, weights.Value())
	for head := range 4 {
		of, most, norms, err := l.Implied(head)
		require.NoError(t, err)
		s, err := l.Summary(head)
		require.NoError(t, err)
		sizes, shares, entropy := want[head*81:][:81], 0.0, 0.0
		for i, w := range of {
			require.InDelta(t, sizes[i], w, 1e-5)
			below = below || w < 0
			require.LessOrEqual(t, max(w, -w), most[i/9])
			if i%9 == 0 {
				shares = 0
				for _, w := range sizes[i:][:9] {
					shares += math.Abs(w)
				}
			}
			if w != 0 {
				entropy -= math.Abs(sizes[i]) / shares * math.Log(math.Abs(sizes[i])/shares) / 9
			}
		}
		_, state, err := heads.Implied(operands, head)
		require.NoError(t, err)
		alone, err := machine.New(state)
		require.NoError(t, err)
		require.NoError(t, alone.RunAll())
		require.InDeltaSlice(t, state.Value().Data(), norms, 1e-5)
		require.InDelta(t, entropy, *s.Statistics.Entropy, 1e-4)
		require.NotNil(t, s.Statistics.Telling)
		require.Nil(t, s.Statistics.Largest)
		require.Equal(t, float32(-1), s.Thumbnail[8], "the future is hidden")
	}
	require.True(t, below)
	_, err = model.Forward(t.Context(), Request{Text: "badcab", Hide: []int{3}})
	require.EqualError(t, err, "got a change of a layer without heads and masks, want none")
	l.T = mostImplied + 1
	_, _, _, err = l.Implied(0)
	require.EqualError(t, err, "text: got 2049 tokens, want at most 2048 to see what a state implies")
}
