package gradcases

import (
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// setting is a way to call either form of attention.
type setting struct {
	about   string
	q, k, v s
	config  graph.AttentionConfig
	more    []Input                                      // inputs of the config
	detach  bool                                         // whether they pass through Detach
	set     func(c *graph.AttentionConfig, more G.Nodes) // sets the nodes of more in the config; may be nil
	anew    bool                                         // whether the mask holds a function
	reason  string
}

// attentions returns the cases of both forms of attention in all settings, and of the ops
// they are made of.
func attentions() []Case {
	composed := func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
		out, _, err := graph.Attention(q, k, v, c)
		return out, err
	}
	watched := attentionsOf("FusedAttention", fused(true), append(plainSettings(), everythingAtOnce()))
	for i := range watched {
		watched[i].About = "with statistics, " + watched[i].About
	}
	settings := slices.Concat(plainSettings(), maskSettings(), biasSettings(), []setting{everythingAtOnce()})
	return slices.Concat(
		attentionsOf("Attention", composed, settings), attentionWeights(),
		attentionsOf("FusedAttention", fused(false), settings), watched,
		packedAttentions(), maskFills(), appendRows())
}

// fused is FusedAttention with or without statistics, through which no gradient flows.
func fused(stats bool) attention {
	return func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
		r, err := graph.FusedAttention(graph.FusedInputs{Query: q, Key: k, Value: v, Stats: stats}, c)
		return r.Out, err
	}
}

// packedAttentions returns the cases with queries, keys and values packed in one tensor.
func packedAttentions() []Case {
	packed := func(widths [3]int, stats bool, c graph.AttentionConfig) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			if len(in) > 1 {
				dropout(&c, in[1:])
			}
			r, err := graph.FusedAttention(graph.FusedInputs{Packed: in[0], Widths: widths, Stats: stats}, c)
			return r.Out, err
		}
	}
	qkv := func(shape ...int) []Input { return []Input{Float("qkv", shape...)} }
	causal := graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}}
	shared := graph.AttentionConfig{Heads: 6, KVHeads: 2}
	sharedCausal := graph.AttentionConfig{Heads: 6, KVHeads: 2, Mask: mask.Causal{}}
	return []Case{
		{Op: "FusedAttention", About: "packed, causal, three heads", Inputs: qkv(2, 5, 27),
			Apply: packed([3]int{6, 6, 15}, false, causal)},
		{Op: "FusedAttention", About: "packed, causal, dropout", Inputs: append(qkv(2, 5, 27), Key()),
			Apply: packed([3]int{6, 6, 15}, false, causal)},
		{Op: "FusedAttention", About: "packed, six heads share two", Inputs: qkv(5, 34),
			Apply: packed([3]int{18, 6, 10}, false, shared)},
		{Op: "FusedAttention", About: "packed, with statistics, causal, six heads share two", Inputs: qkv(5, 34),
			Apply: packed([3]int{18, 6, 10}, true, sharedCausal)},
	}
}

type attention func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error)

// attentionsOf returns the cases of one form of attention.
func attentionsOf(op string, attend attention, settings []setting) []Case {
	var cases []Case
	for _, set := range settings {
		cases = append(cases, Case{
			Op: op, About: set.about, Anew: set.anew, Reason: set.reason,
			Inputs: append([]Input{Float("q", set.q...), Float("k", set.k...), Float("v", set.v...)}, set.more...),
			Apply: func(in G.Nodes) (*G.Node, error) {
				c, err := set.bound(in[3:])
				if err != nil {
					return nil, err
				}
				return attend(in[0], in[1], in[2], c)
			},
		})
	}
	ofItself := func(in G.Nodes) (*G.Node, error) {
		return attend(in[0], in[0], in[0], graph.AttentionConfig{Mask: mask.Causal{}})
	}
	return append(cases, Case{Op: op, About: "of x to itself, causal", Inputs: x(2, 5, 3), Apply: ofItself})
}

// bound returns the config with the nodes of more set.
func (set setting) bound(more G.Nodes) (c graph.AttentionConfig, err error) {
	c = set.config
	if set.detach {
		more = slices.Clone(more)
		for i := range more {
			if more[i], err = graph.Detach(more[i]); err != nil {
				return c, err
			}
		}
	}
	if set.set != nil {
		set.set(&c, more)
	}
	return c, nil
}

// dropout sets the config's dropout, with the key from more.
func dropout(c *graph.AttentionConfig, more G.Nodes) {
	c.Dropout = graph.DropoutConfig{P: 0.3, Key: more[0], Site: 1}
}

// plainSettings returns the settings whose config holds no node but a dropout key.
func plainSettings() []setting {
	var plain graph.AttentionConfig
	causal, heads := graph.AttentionConfig{Mask: mask.Causal{}}, graph.AttentionConfig{Heads: 3}
	causalHeads := graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}}
	grouped := graph.AttentionConfig{Heads: 2, KVHeads: 1, Mask: mask.Causal{}}
	key := []Input{Key()}
	return []setting{
		{about: "2-D", config: plain, q: s{2, 5}, k: s{3, 5}, v: s{3, 7}},
		{about: "3-D", config: plain, q: s{2, 3, 5}, k: s{2, 7, 5}, v: s{2, 7, 3}},
		{about: "4-D", config: plain, q: s{2, 3, 2, 5}, k: s{2, 3, 7, 5}, v: s{2, 3, 7, 3}},
		{about: "three heads", config: heads, q: s{2, 5, 6}, k: s{2, 7, 6}, v: s{2, 7, 15}},
		{about: "six heads share two", config: graph.AttentionConfig{Heads: 6, KVHeads: 2}, q: s{2, 5, 18}, k: s{2, 7, 6},
			v: s{2, 7, 10}},
		{about: "causal, two heads share one, dropout", config: grouped, q: s{2, 5, 6}, k: s{2, 5, 3}, v: s{2, 5, 7},
			more: key, set: dropout},
		{about: "one head", config: graph.AttentionConfig{Heads: 1}, q: s{2, 3, 5}, k: s{2, 7, 5}, v: s{2, 7, 3}},
		{about: "scale 1.7", config: graph.AttentionConfig{Scale: 1.7}, q: s{2, 3, 5}, k: s{2, 7, 5}, v: s{2, 7, 3}},
		{about: "T=1", config: plain, q: s{2, 1, 5}, k: s{2, 7, 5}, v: s{2, 7, 3}},
		{about: "S=1", config: plain, q: s{2, 3, 5}, k: s{2, 1, 5}, v: s{2, 1, 3}},
		{about: "T and S of several tiles", config: plain, q: s{137, 2}, k: s{67, 2}, v: s{67, 1},
			reason: "the kernel's tiles of queries and of keys end at different places"},
		{about: "dropout", config: plain, q: s{2, 5, 3}, k: s{2, 5, 3}, v: s{2, 5, 7}, more: key, set: dropout},
		{about: "causal, 3-D", config: causal, q: s{2, 5, 3}, k: s{2, 5, 3}, v: s{2, 5, 7}},
		{about: "causal, 4-D", config: causal, q: s{2, 3, 5, 2}, k: s{2, 3, 5, 2}, v: s{2, 3, 5, 7}},
		{about: "causal, three heads", config: causalHeads, q: s{2, 5, 6}, k: s{2, 5, 6}, v: s{2, 5, 21}},
		{about: "causal, T=1", config: causal, q: s{2, 1, 3}, k: s{2, 1, 3}, v: s{2, 1, 7}},
		{about: "causal, T of several tiles", config: causal, q: s{67, 2}, k: s{67, 2}, v: s{67, 1},
			reason: "a tile of keys is hidden in part from a tile of queries"},
		{about: "causal, dropout", config: causal, q: s{2, 5, 3}, k: s{2, 5, 3}, v: s{2, 5, 7}, more: key, set: dropout},
		{about: "causal, three heads, dropout", config: causalHeads, q: s{2, 5, 6}, k: s{2, 5, 6}, v: s{2, 5, 21},
			more: key, set: dropout},
	}
}

// attentionWeights returns the cases of the weights, which do not depend on the values.
func attentionWeights() []Case {
	inputs := []Input{Float("q", 2, 5, 6), Float("k", 2, 5, 6), Fixed("v", make([]float64, 60), 2, 5, 6)}
	weights := func(c graph.AttentionConfig) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			_, weights, err := graph.Attention(in[0], in[1], in[2], c)
			return weights, err
		}
	}
	return []Case{
		{Op: "Attention", About: "its weights", Inputs: inputs, Apply: weights(graph.AttentionConfig{})},
		{Op: "Attention", About: "its weights, causal, three heads", Inputs: inputs,
			Apply: weights(graph.AttentionConfig{Mask: mask.Causal{}, Heads: 3})},
		{Op: "Attention", About: "its weights, causal", Inputs: inputs,
			Apply: weights(graph.AttentionConfig{Mask: mask.Causal{}})},
	}
}

func additives() []Case {
	inputs := func(q, k, value s) []Input {
		return []Input{Float("q", q...), Float("k", k...), Float("v", 1, 5), Float("value", value...)}
	}
	additive := func(in G.Nodes) (*G.Node, error) {
		out, _, err := graph.AdditiveAttention(in[0], in[1], in[2], in[3], nil)
		return out, err
	}
	weights := func(in G.Nodes) (*G.Node, error) {
		_, weights, err := graph.AdditiveAttention(in[0], in[1], in[2], in[3], nil)
		return weights, err
	}
	causal := func(in G.Nodes) (*G.Node, error) {
		out, _, err := graph.AdditiveAttention(in[0], in[1], in[2], in[3], mask.Causal{})
		return out, err
	}
	padded := func(in G.Nodes) (*G.Node, error) {
		out, _, err := graph.AdditiveAttention(in[0], in[1], in[2], in[3], mask.KeyLengths{Lengths: in[4]})
		return out, err
	}
	scores := func(in G.Nodes) (*G.Node, error) { return graph.AdditiveScores(in[0], in[1], in[2]) }
	ofWeights := inputs(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 3})
	ofWeights[3] = Fixed("value", make([]float64, 42), 2, 7, 3)
	return []Case{
		{Op: "PairwiseAdd", About: "2-D", Inputs: pair("q", s{2, 5}, "k", s{3, 5}), Apply: two(graph.PairwiseAdd)},
		{Op: "PairwiseAdd", About: "3-D", Inputs: pair("q", s{2, 3, 5}, "k", s{2, 7, 5}), Apply: two(graph.PairwiseAdd)},
		{Op: "PairwiseAdd", About: "T=1", Inputs: pair("q", s{2, 1, 5}, "k", s{2, 3, 5}), Apply: two(graph.PairwiseAdd)},
		{Op: "AdditiveAttention", About: "2-D", Inputs: inputs(s{2, 5}, s{3, 5}, s{3, 7}), Apply: additive},
		{Op: "AdditiveAttention", About: "3-D", Inputs: inputs(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 3}), Apply: additive},
		{Op: "AdditiveAttention", About: "T=1", Inputs: inputs(s{2, 1, 5}, s{2, 3, 5}, s{2, 3, 7}), Apply: additive},
		{Op: "AdditiveAttention", About: "its weights", Inputs: ofWeights, Apply: weights},
		{Op: "AdditiveScores", About: "2-D", Inputs: inputs(s{2, 5}, s{3, 5}, s{3, 7})[:3], Apply: scores},
		{Op: "AdditiveScores", About: "3-D", Inputs: inputs(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 3})[:3], Apply: scores},
		{Op: "AdditiveAttention", About: "causal", Apply: causal, Inputs: inputs(s{2, 3, 5}, s{2, 3, 5}, s{2, 3, 7})},
		{Op: "AdditiveAttention", About: "padding, a row that sees no key", Apply: padded,
			Inputs: append(inputs(s{2, 2, 5}, s{2, 7, 5}, s{2, 7, 3}), IDs("lengths", []int{3, 0}, 2))},
	}
}
