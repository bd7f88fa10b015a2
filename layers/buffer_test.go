package layers_test

import (
	"maps"
	"strings"
	"testing"

	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// CheckCausalMask accepts the causal mask in any type, and nothing else.
func TestCausalBuffer(t *testing.T) {
	const causal = "the causal mask is 1 above the diagonal, where keys are hidden, and 0 elsewhere"
	const two, any = 2, 0
	column := tensor.New(tensor.WithShape(2, 2), tensor.AsFortran([]float64{0, 0, 1, 0}))
	whole := of([]int{9, 9, 9, 9, 0, 1, 9, 0, 0}, 3, 3)
	for _, row := range []struct {
		of      int
		v       *tensor.Dense
		wantErr string
	}{
		{of: two, v: layers.CausalMask(tensor.Float32, two)},
		{of: any, v: layers.CausalMask(tensor.Float64, 5)},
		{of: any, v: of([]int8{0}, 1, 1)},
		{of: two, v: of([]bool{false, true, false, false}, 2, 2)},
		{of: two, v: of([]uint32{0, 1, 0, 0}, 2, 2)},
		{of: two, v: must(whole.Slice(tensor.S(1, 3), tensor.S(1, 3))).(*tensor.Dense)},
		{of: two, v: of([]bool{true, false, true, true}, 2, 2), wantErr: "got true at (0, 0), want false: " + causal},
		{of: two, v: of([]int64{0, 2, 0, 0}, 2, 2), wantErr: "got 2 at (0, 1), want 1: " + causal},
		{of: any, v: of([]float32{0, 1, 1, 0}, 2, 2), wantErr: "got 1 at (1, 0), want 0: " + causal},
		{of: two, v: of([]float32{0}, 1, 1), wantErr: "shape (1, 1), want (2, 2): the causal mask of the context length"},
		{of: any, v: of([]float32{0, 1}, 1, 2), wantErr: "shape (1, 2), want (C, C): the causal mask of a context length"},
		{of: any, v: of([]string{"a"}, 1, 1), wantErr: "got string, want numbers or bools"},
		{of: two, v: column, wantErr: "got a tensor in column-major order, want row-major"},
		{of: two, wantErr: "got nil, want the causal mask"},
	} {
		if err := layers.CheckCausalMask(row.v, row.of); row.wantErr == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, row.wantErr)
		}
	}
	require.Equal(t, []float64{0, 1, 1, 0, 0, 1, 0, 0, 0},
		layers.CausalMask(tensor.Float64, 3).Data())
	require.Nil(t, layers.CausalMask(tensor.Float64, any))
}

// Only the book's causal classes have buffers.
func TestBuffers(t *testing.T) {
	base := layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, ContextOnly: true, ContextLength: 4}
	for change, want := range map[string]string{
		`{}`: "", `{"mask": {"type": "causal", "offset": -1}}`: "", `{"mask": {"type": "sliding_window", "left": 1}}`: "",
		`{"mask": {"type": "causal"}, "layout": "torch"}`: "", `{"mask": {"type": "causal"}}`: "a.mask",
		`{"mask": {"type": "causal"}, "layout": "per_head"}`: "a.heads.0.mask a.heads.1.mask",
	} {
		p := layers.NewParams(tensor.Float32, 1)
		l := must(layers.NewAttention(p.Scope("a"), with(base, change)))
		buffers := map[string]int{}
		for _, name := range strings.Fields(want) {
			buffers[name] = 4
		}
		require.Equal(t, buffers, maps.Collect(p.Buffers()), change)
		require.NotContains(t, must(l.State(layers.Torch)), "mask")
	}
}

// A state may contain the buffers. The error about a buffer that hides other keys names it.
func TestStateHasBuffers(t *testing.T) {
	c := layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Mask: mask.Causal{}, ContextLength: 3, Layout: layers.Torch}
	_, l := newAttention(t, tensor.Float32, c)
	state := must(l.State(layers.Book))
	require.Equal(t, []float32{0, 1, 1, 0, 0, 1, 0, 0, 0}, state["mask"].Data())
	require.NoError(t, l.SetState(layers.Book, state))
	state["mask"] = of([]bool{false, true, true, false, false, false, false, false, false}, 3, 3)
	require.EqualError(t, l.SetState(layers.Book, state), `layers: Attention: state of layout "book": mask: got false at `+
		"(1, 2), want true: the causal mask is 1 above the diagonal, where keys are hidden, and 0 elsewhere")
	delete(state, "mask")
	require.NoError(t, l.SetState(layers.Book, state))

	c.Mask = nil
	_, open := newAttention(t, tensor.Float32, c)
	state["mask"] = layers.CausalMask(tensor.Float32, 3)
	require.EqualError(t, open.SetState(layers.Book, state), `layers: Attention: state of layout "book": unknown mask`)
}
