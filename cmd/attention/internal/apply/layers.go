package apply

import (
	"fmt"
	"strings"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layer is the layer that a layer.json asks for: the tensors it reads and how
// it is built.
type layer struct {
	name       string
	parameters []parameterSpec                     // what the weights file holds
	buffers    []string                            // what it may hold besides: ignored
	sequences  []sequenceSpec                      // what the input file holds, the first of which there must be
	extras     []extraSpec                         // what it may hold besides
	heads      int                                 // H of the extras
	check      func(*tensorFile, inputSizes) error // what else the input has to be; nil if nothing
	build      func(layers.Scope) (forward, error)
}

// forward builds a layer's graph on the inputs there are.
type forward func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error)

// parameterSpec is a tensor of the weights file.
type parameterSpec struct {
	name  string
	shape tensor.Shape
}

// attentionName is the layer that is none of the chapter's variants: all that
// layers.Attention does.
const attentionName = "attention"

// layerNames are the names of all layers.
func layerNames() []string { return append(chapter.Names(), attentionName) }

// newLayer picks the layer that the field layer names and takes its fields.
func newLayer(f *configFields) (*layer, error) {
	var name string
	if !f.choice("layer", &name, layerNames()...) {
		return nil, fmt.Errorf("layer: missing, want one of %s", strings.Join(layerNames(), ", "))
	}
	switch {
	case f.err != nil:
		return nil, f.err
	case name == attentionName:
		return attentionLayer(f)
	case name == "additive":
		return additiveLayer(f)
	}
	return selfAttentionLayer(name, f)
}

// selfAttentionLayer takes the fields that all the chapter's layers but additive have.
// A field that the layer has no use for may be there, and may be 0.
func selfAttentionLayer(name string, f *configFields) (*layer, error) {
	c := chapter.Config{Layer: name}
	width, heads := 1, 0
	switch name {
	case "simple":
		width = 0
	case "multi_head_wrapper", "multi_head":
		heads = 1
	}
	f.size("d_in", &c.EmbedDim, width, maxSize)
	f.size("d_out", &c.OutDim, width, maxSize)
	f.size("context_length", &c.ContextLength, 0, maxSize)
	f.size("num_heads", &c.NumHeads, heads, maxHeads)
	f.flag("qkv_bias", &c.QKVBias)
	f.probability("dropout", &c.Dropout)
	if f.err == nil && name == "multi_head" && c.OutDim%c.NumHeads != 0 {
		f.fail("num_heads: got %d, want a divisor of d_out=%d", c.NumHeads, c.OutDim)
	}
	if err := f.end("layer " + name); err != nil {
		return nil, err
	}
	x := sequenceSpec{name: "x", length: "T", width: c.EmbedDim}
	if c.Causal() {
		x.longest = c.ContextLength
	}
	l := &layer{name: name, sequences: []sequenceSpec{x}, buffers: buffers(c), build: func(s layers.Scope) (forward, error) {
		layer, err := chapter.New(s, c)
		return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
			b.Observe("*")
			if out, err = layer.Forward(b, in["x"]); err != nil {
				return nil, nil, err
			}
			if weights, err = layer.Weights(b, in["x"]); err == nil && heads == 0 {
				weights, err = graph.MergeHeads(weights) // (…, 1, T, T) → (…, T, T)
			}
			return out, weights, err
		}, err
	}}
	var err error
	l.parameters, err = declared(chapter.New, c)
	return l, err
}

// declared returns the parameters of a layer before any memory is allocated for them.
func declared[C, L any](construct func(layers.Scope, C) (L, error), c C) (specs []parameterSpec, err error) {
	p, err := layers.Declare(construct, c)
	if err != nil {
		return nil, config.JSON(err)
	}
	for name, shape := range p.Shapes() {
		specs = append(specs, parameterSpec{name, shape})
	}
	return specs, nil
}

// buffers are what the state_dict of the layer's PyTorch class holds besides parameters.
func buffers(c chapter.Config) (names []string) {
	switch c.Layer {
	case "causal", "multi_head":
		names = []string{"mask"}
	case "multi_head_wrapper":
		for i := range c.NumHeads {
			names = append(names, fmt.Sprintf("heads.%d.mask", i))
		}
	}
	return names
}

// additiveLayer takes the fields of additive.
func additiveLayer(f *configFields) (*layer, error) {
	c := chapter.Config{Layer: "additive"}
	f.size("d_query", &c.QueryDim, 1, maxSize)
	f.size("d_key", &c.KeyDim, 1, maxSize)
	f.size("d_attn", &c.AttnDim, 1, maxSize)
	if err := f.end("layer " + c.Layer); err != nil {
		return nil, err
	}
	parameters, err := declared(chapter.NewAdditive, c)
	return &layer{
		name: c.Layer, parameters: parameters,
		sequences: []sequenceSpec{{name: "query", length: "T", width: c.QueryDim}, {name: "key", length: "S", width: c.KeyDim}},
		build: func(s layers.Scope) (forward, error) {
			layer, err := chapter.NewAdditive(s, c)
			return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
				if out, err = layer.Forward(b, in["query"], in["key"]); err != nil {
					return nil, nil, err
				}
				if weights, err = layer.Weights(b, in["query"], in["key"]); err == nil {
					weights, err = graph.MergeHeads(weights) // (…, 1, T, S) → (…, T, S)
				}
				return out, weights, err
			}, err
		},
	}, err
}
