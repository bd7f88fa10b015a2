package apply

import (
	"cmp"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// attention holds the fields of layer attention in a layer.json.
type attention struct {
	layers.AttentionConfig
	averaging
}

// averaging is the field of an attention's layer.json that is not part of the layer's config.
type averaging struct {
	AverageWeights bool `json:"average_weights"` // over the heads
}

// newAttention returns the layer attention.
func newAttention(text []byte) (*Layer, error) {
	a := new(attention)
	if err := config.Decode(text, new(envelope), &a.averaging, &a.AttentionConfig); err != nil {
		return nil, err
	}
	if err := config.AtMost(a.AttentionConfig, maxLength, "ContextLength"); err != nil {
		return nil, err
	}
	l, err := declare(attentionName, layers.NewAttention, a.AttentionConfig, a.call)
	if err != nil {
		return nil, err
	}
	l.sequences = []sequenceSpec{
		{name: "query", length: "T", width: a.EmbedDim, longest: a.ContextLength},
		{name: "key", length: "S", width: cmp.Or(a.KDim, a.EmbedDim), longest: a.ContextLength, instead: "query"},
		{name: "value", length: "S", width: cmp.Or(a.VDim, a.EmbedDim), longest: a.ContextLength, instead: "key"},
	}
	l.extras, l.heads, l.check = attentionExtras(), a.NumHeads, a.check
	if a.Layout == layers.GPT2 {
		l.buffers = []string{"bias", "masked_bias"}
	}
	return l, nil
}

// call builds the layer's graph.
func (a *attention) call(l *layers.Attention, b *layers.Build, in map[string]*G.Node) (out, weights *G.Node) {
	call := layers.AttentionInput{
		Query: in["query"], Key: in["key"], Value: in["value"], Mask: maskOf(in), Bias: in["bias"],
		Positions: in["positions"], KeyPositions: in["key_positions"]}
	out, weights = b.Of(l.Attend(b, call)), b.Of(l.Weights(b, call))
	if a.AverageWeights {
		weights = b.Of(graph.AverageHeads(weights))
	}
	return out, weights
}

// maskOf returns the conjunction of all masks among the inputs, nil if there are none.
func maskOf(in map[string]*G.Node) mask.Mask {
	var all mask.Mask
	and := func(there *G.Node, m mask.Mask) {
		switch {
		case there == nil:
		case all == nil:
			all = m
		default:
			all = mask.And(all, m)
		}
	}
	and(in["keep"], mask.Keep{Keep: in["keep"]})
	and(in["lengths"], mask.KeyLengths{Lengths: in["lengths"]})
	and(in["segments"], mask.Segments{Query: in["segments"], Key: in["key_segments"]})
	return all
}

// attentionExtras returns the inputs of the layer attention besides its sequences.
func attentionExtras() []extraSpec {
	return []extraSpec{
		{name: "keep", kind: zerosAndOnes, axes: []string{"BHTS"}, broadcast: true},
		{name: "lengths", kind: wholeNumbers, axes: []string{"B"}},
		{name: "segments", kind: wholeNumbers, axes: []string{"BT"}},
		{name: "key_segments", kind: wholeNumbers, axes: []string{"BS"}},
		{name: "bias", kind: realNumbers, axes: []string{"BHTS"}, broadcast: true},
		{name: "positions", kind: wholeNumbers, axes: []string{"T", "BT"}},
		{name: "key_positions", kind: wholeNumbers, axes: []string{"S", "BS"}},
	}
}

// check checks the inputs against the config and against each other.
func (a *attention) check(f *tensorFile, s mask.Scores) error {
	for _, name := range []string{"positions", "key_positions"} {
		if f.has(name) && a.RoPE == nil && a.Latent == nil {
			return f.fail(name, "got it without rope or latent in layer.json, which alone use positions")
		}
	}
	if f.has("key_positions") && !f.has("positions") && !f.has("key") {
		return f.fail("key_positions", "got it without positions, want positions: the keys are the queries")
	}
	if f.has("key_segments") && !f.has("segments") {
		return f.fail("segments", "missing, want it besides key_segments")
	}
	if f.has("segments") && !f.has("key_segments") && s.T != s.S {
		return f.fail("key_segments", "missing, want it besides segments with S=%d keys for T=%d queries", s.S, s.T)
	}
	if f.has("lengths") {
		t, err := f.read("lengths")
		if err != nil {
			return err
		}
		lengths := t.Data.([]int64)
		if i := slices.IndexFunc(lengths, func(n int64) bool { return n < 0 || n > int64(s.S) }); i >= 0 {
			return f.fail("lengths", "got %d at element %d, want 0 to S=%d", lengths[i], i, s.S)
		}
	}
	if err := a.checkPlaces(f, s); err != nil {
		return err
	}
	keys := s.S
	for _, extra := range []bool{a.AddBiasKV, a.AddZeroAttn} {
		if extra {
			keys++
		}
	}
	// Also checked before the graph is built, because building allocates the biases of alibi.
	return checkElements(attentionName, append(slices.Clone(s.Batch), a.NumHeads, s.T, keys))
}

// checkPlaces checks that the config gives the positions of the queries among the keys, if the layer depends on them.
func (a *attention) checkPlaces(f *tensorFile, s mask.Scores) error {
	_, _, err := mask.Resolve(a.Mask, s)
	if a.ALiBi || a.RelativeBias != nil || a.Forget || a.RoPE != nil && !f.has("positions") {
		_, outside := a.Align.Offset(s.T, s.S)
		err = cmp.Or(err, outside)
	}
	if err != nil {
		return f.fail("key", "%v (align in layer.json)", err)
	}
	return nil
}
