package apply

import (
	"fmt"
	"slices"
	"strings"

	"attention/layers"

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

// parameterSpec is a tensor of the weights file. The layers make the same
// parameters; here they are known before any memory is taken for them.
type parameterSpec struct {
	name  string
	shape tensor.Shape
}

// attentionName is the layer that is none of the chapter's variants: all that
// layers.Attention does.
const attentionName = "attention"

// layerNames are the names of all layers.
func layerNames() []string { return append(layers.Variants(), attentionName) }

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
	case name == layers.Additive:
		return additiveLayer(f)
	}
	return selfAttentionLayer(name, f)
}

// selfAttentionLayer takes the fields that all the chapter's layers but additive have.
// A field that the layer has no use for may be there, and may be 0.
func selfAttentionLayer(name string, f *configFields) (*layer, error) {
	c := layers.VariantConfig{Layer: name}
	width, heads := 1, 0
	switch name {
	case layers.Simple:
		width = 0
	case layers.MultiHeadWrapper, layers.MultiHead:
		heads = 1
	}
	f.size("d_in", &c.DIn, width, maxSize)
	f.size("d_out", &c.DOut, width, maxSize)
	f.size("context_length", &c.ContextLength, 0, maxSize)
	f.size("num_heads", &c.NumHeads, heads, maxHeads)
	f.flag("qkv_bias", &c.QKVBias)
	f.probability("dropout", &c.Dropout)
	if f.err == nil && name == layers.MultiHead && c.DOut%c.NumHeads != 0 {
		f.fail("num_heads: got %d, want a divisor of d_out=%d", c.NumHeads, c.DOut)
	}
	if err := f.end("layer " + name); err != nil {
		return nil, err
	}
	x := sequenceSpec{name: "x", length: "T", width: c.DIn}
	if c.Causal() {
		x.longest = c.ContextLength
	}
	l := &layer{name: name, sequences: []sequenceSpec{x}, build: func(s layers.Scope) (forward, error) {
		layer, err := c.New(s)
		return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
			return layer.ForwardWithWeights(b, in["x"])
		}, err
	}}
	l.parameters, l.buffers = selfAttentionTensors(c)
	return l, c.Validate()
}

// selfAttentionTensors are the entries of the state_dict of the layer's PyTorch
// class.
func selfAttentionTensors(c layers.VariantConfig) (parameters []parameterSpec, buffers []string) {
	a := layers.AttentionConfig{Width: c.DIn, Out: c.DOut, NumHeads: 1, QKVBias: c.QKVBias, OutBias: true}
	switch c.Layer {
	case layers.SelfV1:
		for _, name := range []string{"W_query", "W_key", "W_value"} {
			parameters = append(parameters, parameterSpec{name, tensor.Shape{c.DIn, c.DOut}})
		}
	case layers.SelfV2:
		parameters = projections(a)
	case layers.Causal:
		parameters, buffers = projections(a), []string{"mask"}
	case layers.MultiHeadWrapper:
		for i := range c.NumHeads {
			head := fmt.Sprintf("heads.%d.", i)
			for _, p := range projections(a) {
				parameters = append(parameters, parameterSpec{head + p.name, p.shape})
			}
			buffers = append(buffers, head+"mask")
		}
	case layers.MultiHead:
		a.NumHeads = c.NumHeads
		parameters, buffers = attentionParameters(a), []string{"mask"}
	}
	return parameters, buffers
}

// attentionParameters are the parameters of an Attention.
func attentionParameters(c layers.AttentionConfig) (p []parameterSpec) {
	for _, a := range c.Parameters() {
		p = append(p, parameterSpec{a.Name, a.Shape})
	}
	return p
}

// projections are the parameters of an Attention without those of its output
// projection.
func projections(c layers.AttentionConfig) []parameterSpec {
	return slices.DeleteFunc(attentionParameters(c), func(p parameterSpec) bool { return strings.HasPrefix(p.name, "out_proj.") })
}

// additiveLayer takes the fields of additive.
func additiveLayer(f *configFields) (*layer, error) {
	c := layers.VariantConfig{Layer: layers.Additive}
	f.size("d_query", &c.DQuery, 1, maxSize)
	f.size("d_key", &c.DKey, 1, maxSize)
	f.size("d_attn", &c.DAttn, 1, maxSize)
	if err := f.end("layer " + c.Layer); err != nil {
		return nil, err
	}
	return &layer{
		name: c.Layer,
		parameters: []parameterSpec{
			{"W_query.weight", tensor.Shape{c.DAttn, c.DQuery}},
			{"W_key.weight", tensor.Shape{c.DAttn, c.DKey}},
			{"v.weight", tensor.Shape{1, c.DAttn}},
		},
		sequences: []sequenceSpec{{name: "query", length: "T", width: c.DQuery}, {name: "key", length: "S", width: c.DKey}},
		build: func(s layers.Scope) (forward, error) {
			layer, err := c.NewAdditive(s)
			return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node, err error) {
				return layer.ForwardWithWeights(b, in["query"], in["key"])
			}, err
		},
	}, c.Validate()
}
