package main

import (
	"fmt"
	"strings"

	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// applyLayer is the layer that a layer.json asks for: the tensors it reads and how
// it is built.
type applyLayer struct {
	name       string
	parameters []parameterSpec // what the weights file holds
	buffers    []string        // what it may hold besides: ignored
	inputs     []inputSpec     // what the input file holds
	build      func(layers.Scope) (applyForward, error)
}

// applyForward builds a layer's graph on its inputs, in the order of their specs.
type applyForward func(b *layers.Build, in G.Nodes) (out, weights *G.Node, err error)

// parameterSpec is a tensor of the weights file. The layers make the same
// parameters; here they are known before any memory is taken for them.
type parameterSpec struct {
	name  string
	shape tensor.Shape
}

// inputSpec is a sequence ([B,] T, width) of the input file.
type inputSpec struct {
	name    string
	length  string // the letter of its length, T or S
	longest int    // greatest length; 0 means any
	width   int    // 0 means any
}

// newApplyLayer picks the layer that the field layer names and takes its fields.
func newApplyLayer(f *configFields) (*applyLayer, error) {
	want := "one of " + strings.Join(layers.Variants(), ", ")
	var name string
	if !f.take("layer", &name, want) {
		return nil, fmt.Errorf("layer: missing, want %s", want)
	}
	if f.err != nil {
		return nil, f.err
	}
	switch name {
	case layers.Simple, layers.SelfV1, layers.SelfV2, layers.Causal, layers.MultiHeadWrapper, layers.MultiHead:
		return selfAttentionLayer(name, f)
	case layers.Additive:
		return additiveLayer(f)
	}
	return nil, fmt.Errorf("layer: got %.60q, want %s", name, want)
}

// selfAttentionLayer takes the fields that all layers but additive have. A field
// that the layer has no use for may be there, and may be 0.
func selfAttentionLayer(name string, f *configFields) (*applyLayer, error) {
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
	if err := f.end(name); err != nil {
		return nil, err
	}
	x := inputSpec{name: "x", length: "T", width: c.DIn}
	if c.Causal() {
		x.longest = c.ContextLength
	}
	l := &applyLayer{name: name, inputs: []inputSpec{x}, build: func(s layers.Scope) (applyForward, error) {
		layer, err := c.New(s)
		return func(b *layers.Build, in G.Nodes) (out, weights *G.Node, err error) {
			return layer.ForwardWithWeights(b, in[0])
		}, err
	}}
	l.parameters, l.buffers = selfAttentionTensors(c)
	return l, c.Validate()
}

// selfAttentionTensors are the entries of the state_dict of the layer's PyTorch
// class.
func selfAttentionTensors(c layers.VariantConfig) (parameters []parameterSpec, buffers []string) {
	switch c.Layer {
	case layers.SelfV1:
		for _, name := range []string{"W_query", "W_key", "W_value"} {
			parameters = append(parameters, parameterSpec{name, tensor.Shape{c.DIn, c.DOut}})
		}
	case layers.SelfV2:
		parameters = projectionTensors("", c)
	case layers.Causal:
		parameters, buffers = projectionTensors("", c), []string{"mask"}
	case layers.MultiHeadWrapper:
		for i := range c.NumHeads {
			head := fmt.Sprintf("heads.%d.", i)
			parameters = append(parameters, projectionTensors(head, c)...)
			buffers = append(buffers, head+"mask")
		}
	case layers.MultiHead:
		parameters = append(projectionTensors("", c), linearTensors("out_proj", c.DOut, c.DOut, true)...)
		buffers = []string{"mask"}
	}
	return parameters, buffers
}

func projectionTensors(prefix string, c layers.VariantConfig) (p []parameterSpec) {
	for _, name := range []string{"W_query", "W_key", "W_value"} {
		p = append(p, linearTensors(prefix+name, c.DOut, c.DIn, c.QKVBias)...)
	}
	return p
}

// linearTensors are the parameters of one nn.Linear.
func linearTensors(name string, out, in int, bias bool) []parameterSpec {
	p := []parameterSpec{{name + ".weight", tensor.Shape{out, in}}}
	if bias {
		p = append(p, parameterSpec{name + ".bias", tensor.Shape{out}})
	}
	return p
}

// additiveLayer takes the fields of additive.
func additiveLayer(f *configFields) (*applyLayer, error) {
	c := layers.VariantConfig{Layer: layers.Additive}
	f.size("d_query", &c.DQuery, 1, maxSize)
	f.size("d_key", &c.DKey, 1, maxSize)
	f.size("d_attn", &c.DAttn, 1, maxSize)
	if err := f.end(c.Layer); err != nil {
		return nil, err
	}
	return &applyLayer{
		name: c.Layer,
		parameters: []parameterSpec{
			{"W_query.weight", tensor.Shape{c.DAttn, c.DQuery}},
			{"W_key.weight", tensor.Shape{c.DAttn, c.DKey}},
			{"v.weight", tensor.Shape{1, c.DAttn}},
		},
		inputs: []inputSpec{{name: "query", length: "T", width: c.DQuery}, {name: "key", length: "S", width: c.DKey}},
		build: func(s layers.Scope) (applyForward, error) {
			layer, err := c.NewAdditive(s)
			return func(b *layers.Build, in G.Nodes) (out, weights *G.Node, err error) {
				return layer.ForwardWithWeights(b, in[0], in[1])
			}, err
		},
	}, c.Validate()
}
