package apply

import (
	"fmt"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// layer is the layer that a layer.json describes: the tensors it reads and how
// it is built.
type layer struct {
	name       string
	parameters *layers.Params                      // declared: the names and shapes of the weights file
	buffers    []string                            // further names that file may hold: ignored
	sequences  []sequenceSpec                      // of the input file; the first is required
	extras     []extraSpec                         // optional tensors of the input file
	heads      int                                 // H of the extras
	check      func(*tensorFile, inputSizes) error // other checks of the input; nil if there are none
	build      func(layers.Scope) (forward, error)
}

// forward builds a layer's graph on the given inputs.
type forward func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error)

// selfConfig is the part of chapter.Config that the layers from x to itself have. Each of them
// ignores the fields that it does not use.
type selfConfig struct {
	EmbedDim      int     `json:"d_in"`
	OutDim        int     `json:"d_out"`
	ContextLength int     `json:"context_length"`
	NumHeads      int     `json:"num_heads"`
	QKVBias       bool    `json:"qkv_bias"`
	Dropout       float64 `json:"dropout"`
}

// newSelfAttention returns one of the chapter's layers other than additive.
func newSelfAttention(text []byte) (*layer, error) {
	var e envelope
	var f selfConfig
	if err := config.Decode(text, &e, &f); err != nil {
		return nil, err
	}
	if err := config.AtMost(f, maxLength, "ContextLength"); err != nil {
		return nil, err
	}
	c := chapter.Config{Layer: e.Layer, EmbedDim: f.EmbedDim, OutDim: f.OutDim, ContextLength: f.ContextLength,
		NumHeads: f.NumHeads, QKVBias: f.QKVBias, Dropout: f.Dropout}
	parameters, err := layers.Declare(chapter.New, c)
	if err != nil {
		return nil, err
	}
	x := sequenceSpec{name: "x", length: "T", width: c.EmbedDim}
	var masks []string
	if c.Causal() {
		x.longest = c.ContextLength
		masks = buffers(layers.Book, 1)
	}
	perHead := c.Layer == "multi_head_wrapper"
	if perHead {
		masks = buffers(layers.PerHead, c.NumHeads)
	}
	build := func(s layers.Scope) (forward, error) {
		l, err := chapter.New(s, c)
		return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
			b.Observe("*") // so that output and weights come from one computation
			if out, err = l.Forward(b, in["x"]); err != nil {
				return nil, nil, err
			}
			if weights, err = l.Weights(b, in["x"]); err == nil && !perHead && c.Layer != "multi_head" {
				weights, err = graph.MergeHeads(weights) // (…, 1, T, T) → (…, T, T)
			}
			return out, weights, err
		}, err
	}
	return &layer{name: c.Layer, parameters: parameters, buffers: masks, sequences: []sequenceSpec{x}, build: build}, nil
}

// newAdditive returns the layer additive.
func newAdditive(text []byte) (*layer, error) {
	var c layers.AdditiveAttentionConfig
	if err := config.Decode(text, new(envelope), &c); err != nil {
		return nil, err
	}
	parameters, err := layers.Declare(layers.NewAdditiveAttention, c)
	if err != nil {
		return nil, err
	}
	build := func(s layers.Scope) (forward, error) {
		l, err := layers.NewAdditiveAttention(s, c)
		return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
			if out, err = l.Forward(b, in["query"], in["key"]); err != nil {
				return nil, nil, err
			}
			if weights, err = l.Weights(b, in["query"], in["key"]); err == nil {
				weights, err = graph.MergeHeads(weights) // (…, 1, T, S) → (…, T, S)
			}
			return out, weights, err
		}, err
	}
	return &layer{name: additiveName, parameters: parameters, build: build, sequences: []sequenceSpec{
		{name: "query", length: "T", width: c.QueryDim},
		{name: "key", length: "S", width: c.KeyDim},
	}}, nil
}

// buffers returns the names of the entries other than parameters that the state_dict of a
// layout's PyTorch class may hold.
func buffers(layout layers.Layout, heads int) (names []string) {
	switch layout {
	case layers.PerHead:
		for i := range heads {
			names = append(names, fmt.Sprintf("heads.%d.mask", i))
		}
	case layers.Book, "":
		names = []string{"mask"}
	case layers.GPT2:
		names = []string{"bias", "masked_bias"}
	}
	return names
}
