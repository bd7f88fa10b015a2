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

// attention is the layer attention of a layer.json.
type attention struct {
	layers.AttentionConfig
	averaging
}

// averaging is the field of a layer.json of attention that is not in the config.
type averaging struct {
	AverageWeights bool `json:"average_weights"` // over the heads
}

// newAttention returns the layer attention.
func newAttention(text []byte) (*layer, error) {
	a := new(attention)
	if err := config.Decode(text, new(envelope), &a.averaging, &a.AttentionConfig); err != nil {
		return nil, err
	}
	if err := cmp.Or(refuseDefaults(text), config.AtMost(a.AttentionConfig, maxLength, "ContextLength")); err != nil {
		return nil, err
	}
	parameters, err := layers.Declare(layers.NewAttention, a.AttentionConfig)
	if err != nil {
		return nil, err
	}
	return &layer{
		name: attentionName, parameters: parameters, buffers: buffers(a.Layout, a.NumHeads),
		sequences: []sequenceSpec{
			{name: "query", length: "T", width: a.EmbedDim, longest: a.ContextLength},
			{name: "key", length: "S", width: cmp.Or(a.KDim, a.EmbedDim), longest: a.ContextLength, instead: "query"},
			{name: "value", length: "S", width: cmp.Or(a.VDim, a.EmbedDim), longest: a.ContextLength, instead: "key"},
		},
		extras: attentionExtras(), heads: a.NumHeads, check: a.check, build: a.build,
	}, nil
}

// build makes the layer.
func (a *attention) build(s layers.Scope) (forward, error) {
	layer, err := layers.NewAttention(s, a.AttentionConfig)
	return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
		b.Observe("*") // so that output and weights come from one computation
		call := layers.AttentionInput{
			Query: in["query"], Key: in["key"], Value: in["value"], Mask: maskOf(in), Bias: in["bias"],
			Positions: in["positions"], KeyPositions: in["key_positions"]}
		if out, err = layer.Attend(b, call); err != nil {
			return nil, nil, err
		}
		if weights, err = layer.Weights(b, call); err == nil && a.AverageWeights {
			weights, err = graph.AverageHeads(weights)
		}
		return out, weights, err
	}, err
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
func (a *attention) check(f *tensorFile, z inputSizes) error {
	for _, name := range []string{"positions", "key_positions"} {
		if f.has(name) && a.RoPE == nil {
			return f.fail(name, "got it without rope in layer.json, which alone uses positions")
		}
	}
	if f.has("key_segments") && !f.has("segments") {
		return f.fail("segments", "missing, want it besides key_segments")
	}
	if f.has("segments") && !f.has("key_segments") && z.T != z.S {
		return f.fail("key_segments", "missing, want it besides segments with S=%d keys for T=%d queries", z.S, z.T)
	}
	if f.has("lengths") {
		lengths, _ := f.whole("lengths")
		if i := slices.IndexFunc(lengths, func(n int64) bool { return n < 0 || n > int64(z.S) }); i >= 0 {
			return f.fail("lengths", "got %d at element %d, want 0 to S=%d", lengths[i], i, z.S)
		}
	}
	if err := a.checkPlaces(f, z); err != nil {
		return err
	}
	keys := z.S
	for _, extra := range []bool{a.AddBiasKV, a.AddZeroAttn} {
		if extra {
			keys++
		}
	}
	// Checked before the graph is built too: building allocates the biases of alibi.
	return checkElements(attentionName, append(slices.Clone(z.batch), a.NumHeads, z.T, keys))
}

// checkPlaces checks that the config gives the place of the queries among the keys, if it
// matters.
func (a *attention) checkPlaces(f *tensorFile, z inputSizes) error {
	_, _, err := mask.Resolve(a.Mask, mask.Scores{Batch: z.batch, Heads: true, H: z.H, T: z.T, S: z.S})
	if a.ALiBi || a.RelativeBias != nil || a.RoPE != nil && !f.has("positions") {
		_, outside := a.Align.Offset(z.T, z.S)
		err = cmp.Or(err, outside)
	}
	if err != nil {
		return f.fail("key", "%v (align in layer.json)", err)
	}
	return nil
}
