package pictures

import (
	"math"
	"testing"

	"attention/train/record"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// watchedHeads holds the weights of two heads in each of two layers over two tokens, at two moments.
func watchedHeads() *record.Recording {
	weights := func(moved ...float32) *tensor.Dense {
		var all []float32
		for moment := range 2 {
			for _, m := range moved {
				share := m * float32(moment)
				all = append(all, 1, 0, 0.5-share, 0.5+share)
			}
		}
		return tensor.New(tensor.WithShape(2, len(moved), 2, 2), tensor.WithBacking(all))
	}
	const note = `{"queries":["a","b"],"keys":["a","b"],"causal":true}`
	return &record.Recording{
		Records: []record.Record{{Params: []record.Param{{Name: "h.9.attn.w"}, {Name: "h.10.attn.w"}}}},
		Steps:   []int{0, 50},
		Probe: map[string]*tensor.Dense{"h.10.attn": weights(0.1, 0.4), "h.9.attn": weights(0.2, 0.3, 0.25),
			"other": weights(0.5)},
		Notes: map[string]string{"h.10.attn": note, "h.9.attn": note, "other": note},
	}
}

// The heads that changed most are drawn in the order of their layers, with grey cells for masked weights.
func TestStepsPicture(t *testing.T) {
	w := watchedHeads()
	heads, err := probeHeads(w, "h.*.attn")
	require.NoError(t, err)
	picture := stepsPicture(w, heads, "a model")
	require.Equal(t, "Attention weights from untrained to trained: h.*.attn, a model", picture.Title)
	require.Equal(t, 2, picture.Across)
	var titles []string
	for _, m := range picture.Maps {
		titles = append(titles, m.Title)
		require.Equal(t, []string{"a", "b"}, m.Rows)
		require.True(t, math.IsNaN(m.Values[1]))
	}
	require.Equal(t, []string{
		"layer 9, head 0: step 0", "layer 9, head 0: step 50", "layer 9, head 1: step 0", "layer 9, head 1: step 50",
		"layer 9, head 2: step 0", "layer 9, head 2: step 50", "layer 10, head 1: step 0", "layer 10, head 1: step 50",
	}, titles)
	require.InDelta(t, 0.9, picture.Maps[7].Values[3], 1e-6)

	w.Notes["other"] = `{"queries":["a"],"keys":["a"]}`
	_, err = probeHeads(w, "*")
	require.EqualError(t, err, `note "other": got 1 queries and 1 keys, want 2 and 2`)
	delete(w.Notes, "other")
	_, err = probeHeads(w, "*")
	require.ErrorContains(t, err, `note "other": `)
	heads, err = probeHeads(w, "none")
	require.NoError(t, err)
	require.Empty(t, heads)
}

// For a long text that every query sees completely, the end is drawn.
func TestStepsPictureOfALongText(t *testing.T) {
	const n = drawnTokens + 3
	all := make([]float32, n*n)
	all[n*n-1] = 7
	text := make([]string, n)
	text[n-1] = "z"
	heads, err := headsOf(&record.Recording{Records: make([]record.Record, 1), Steps: []int{0},
		Probe: map[string]*tensor.Dense{"attention": tensor.New(tensor.WithShape(1, n, n), tensor.WithBacking(all))},
		Notes: map[string]string{"attention": `{"queries":` + quoted(text) + `,"keys":` + quoted(text) + `}`}}, "attention")
	require.NoError(t, err)
	require.Len(t, heads[0].moments[0], drawnTokens*drawnTokens)
	require.Equal(t, 7.0, heads[0].moments[0][drawnTokens*drawnTokens-1])
	require.Equal(t, "z", heads[0].text.Keys[drawnTokens-1])
}

// For a long text in which no query sees a later key, the beginning is drawn.
func TestStepsPictureOfALongCausalText(t *testing.T) {
	const n = drawnCausal + 3
	all := make([]float32, n*n)
	all[1*n] = 7
	text := make([]string, n)
	text[0] = "a"
	heads, err := headsOf(&record.Recording{Records: make([]record.Record, 1), Steps: []int{0},
		Probe: map[string]*tensor.Dense{"attention": tensor.New(tensor.WithShape(1, n, n), tensor.WithBacking(all))},
		Notes: map[string]string{"attention": `{"causal":true,"queries":` + quoted(text) + `,"keys":` + quoted(text) + `}`}},
		"attention")
	require.NoError(t, err)
	require.Len(t, heads[0].moments[0], drawnCausal*drawnCausal)
	require.Equal(t, 7.0, heads[0].moments[0][drawnCausal])
	require.Equal(t, "a", heads[0].text.Keys[0])
	require.Len(t, heads[0].text.Queries, drawnCausal)
}

func TestLayersOf(t *testing.T) {
	for _, row := range []struct {
		names  []string
		common string
		rest   []string
	}{
		{names: []string{"attention", "attention"}, common: "attention", rest: []string{"", ""}},
		{names: []string{"h.0.attn", "h.11.attn"}, common: "h.*.attn", rest: []string{"layer 0, ", "layer 11, "}},
		{names: []string{"a.self", "b.self"}, common: "*.self", rest: []string{"a, ", "b, "}},
		{names: []string{"x", "a.b.c"}, common: "*", rest: []string{"x, ", "a.b.c, "}},
		{names: []string{"a.b.a", "a.a"}, common: "*", rest: []string{"a.b.a, ", "a.a, "}},
	} {
		common, rest := layersOf(row.names)
		require.Equal(t, row.common, common)
		require.Equal(t, row.rest, rest)
	}
}
