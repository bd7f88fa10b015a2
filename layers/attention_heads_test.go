package layers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stack puts the wrapper's heads into the multi-head layer's projections, one below
// the other, and makes its output projection do nothing.
func stack(t *testing.T, p *layers.Params, heads, in, width int, bias bool) {
	t.Helper()
	get := func(name string) []float64 {
		v, ok := p.Get(name)
		require.True(t, ok, name)
		return v.Data().([]float64)
	}
	for _, m := range []string{"W_query", "W_key", "W_value"} {
		var weight, offset []float64
		for h := range heads {
			head := fmt.Sprintf("wrapper.heads.%d.%s.", h, m)
			weight = append(weight, get(head+"weight")...)
			if bias {
				offset = append(offset, get(head+"bias")...)
			}
		}
		require.NoError(t, p.Set("mha."+m+".weight", golden.Dense(tensor.Float64, weight, heads*width, in)))
		if bias {
			require.NoError(t, p.Set("mha."+m+".bias", golden.Dense(tensor.Float64, offset, heads*width)))
		}
	}
	out := heads * width
	identity := make([]float64, out*out)
	for i := range out {
		identity[i*out+i] = 1
	}
	require.NoError(t, p.Set("mha.out_proj.weight", golden.Dense(tensor.Float64, identity, out, out)))
	require.NoError(t, p.Set("mha.out_proj.bias", golden.Dense(tensor.Float64, make([]float64, out), out)))
}

// Multi-head attention is the wrapper's heads at once: with the heads' weights
// stacked and an output projection that does nothing, both give the same, also with
// one head, and with heads of width 1.
func TestMultiHeadAttentionEqualsItsHeads(t *testing.T) {
	const in = 3
	for _, c := range []struct {
		heads, width int
		bias         bool
	}{
		{heads: 2, width: 5, bias: false},
		{heads: 3, width: 2, bias: true},
		{heads: 1, width: 4, bias: true},
		{heads: 5, width: 1, bias: false},
		{heads: 1, width: 1, bias: true},
	} {
		p := layers.NewParams(tensor.Float64, 1)
		apart, together := chapter.MultiHeadWrapper(in, c.width, c.heads), chapter.MultiHead(in, c.heads*c.width, c.heads)
		apart.QKVBias, together.QKVBias = c.bias, c.bias
		wrapper := must(newSelf(p.Scope("wrapper"), apart))
		mha := must(newSelf(p.Scope("mha"), together))
		stack(t, p, c.heads, in, c.width, c.bias)
		for _, shape := range [][]int{{7, in}, {2, 7, in}, {1, in}} {
			x := golden.Numbers(tensor.Float64, shape...)
			want, wantWeights := apply(t, p, wrapper, x)
			got, weights := apply(t, p, mha, x)
			require.InDeltaSlice(t, want, got, 1e-14, "%v of %v", c, shape)
			require.InDeltaSlice(t, wantWeights, weights, 1e-14, "%v of %v", c, shape)
			b := layers.NewBuild(p, layers.Eval)
			out := must(mha.Forward(b, input(t, b, "x", x)))
			require.InDeltaSlice(t, want, values(t, out)[0], 1e-14, "%v of %v, fused", c, shape)
		}
	}
}

// A wrapper of one head is that head.
func TestAWrapperOfOneHead(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	wrapper := must(newSelf(p.Scope(""), chapter.MultiHeadWrapper(3, 1, 1)))
	head := must(newSelf(p.Scope("head"), chapter.Causal(3, 1)))
	for _, m := range []string{"W_query", "W_key", "W_value"} {
		w, ok := p.Get("heads.0." + m + ".weight")
		require.True(t, ok)
		require.NoError(t, p.Set("head."+m+".weight", w))
	}
	x := golden.Numbers(tensor.Float64, 2, 6, 3)
	want, wantWeights := apply(t, p, head, x)
	got, weights := apply(t, p, wrapper, x)
	require.Equal(t, want, got)
	require.Equal(t, wantWeights, weights)
}

// A layer's Forward is one fused op, which never holds the weights.
func TestForwardIsFused(t *testing.T) {
	for name, c := range map[string]layers.AttentionConfig{
		"self": chapter.SelfV2(3, 4), "causal": chapter.Causal(3, 4), "mha": chapter.MultiHead(3, 4, 2),
	} {
		p := layers.NewParams(tensor.Float64, 1)
		layer := must(newSelf(p.Scope(name), c))
		b := layers.NewBuild(p, layers.Eval)
		must(layer.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 3))))
		has := func(op string) bool {
			return slices.ContainsFunc(b.Graph().AllNodes(), func(n *G.Node) bool {
				return n.Op() != nil && strings.HasPrefix(n.Op().String(), op)
			})
		}
		require.True(t, has("FusedAttention"), name)
		require.False(t, has("Softmax"), name)
	}
}

// Grouped attention is attention with each key/value head as often as its query heads
// want it.
func TestGroupedHeadsAreSharedHeads(t *testing.T) {
	for _, kv := range []int{1, 2, 3} {
		p, grouped := newAttention(t, tensor.Float64,
			layers.AttentionConfig{EmbedDim: 5, NumHeads: 6, NumKVHeads: kv, HeadDim: 4, ValueDim: 3, QKVBias: true})
		state := must(grouped.State(layers.Llama))
		for name, width := range map[string]int{"k_proj": 4, "v_proj": 3} {
			for _, of := range []string{".weight", ".bias"} {
				state[name+of] = repeatBlocks(state[name+of], width, 6/kv)
			}
		}
		q, all := newAttention(t, tensor.Float64,
			layers.AttentionConfig{EmbedDim: 5, NumHeads: 6, HeadDim: 4, ValueDim: 3, QKVBias: true})
		require.NoError(t, all.SetState(layers.Llama, state))
		x := golden.Numbers(tensor.Float64, 2, 7, 5)
		want, wantWeights := attended(t, q, all, selfCall(t, x))
		got, weights := attended(t, p, grouped, selfCall(t, x))
		require.InDeltaSlice(t, want, got, 1e-14)
		require.InDeltaSlice(t, wantWeights, weights, 1e-14)
	}
}

// repeatBlocks repeats each block of n rows, n = rows.
func repeatBlocks(v *tensor.Dense, rows, times int) *tensor.Dense {
	shape := slices.Clone(v.Shape())
	size := rows * v.Shape().TotalSize() / shape[0]
	var repeated []float64
	for block := range slices.Chunk(v.Data().([]float64), size) {
		for range times {
			repeated = append(repeated, block...)
		}
	}
	shape[0] *= times
	return golden.Dense(tensor.Float64, repeated, shape...)
}
