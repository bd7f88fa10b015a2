package apply

import (
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Layer is the layer that a layer.json describes: the tensors it reads and how it is built.
type Layer struct {
	Name       string
	parameters *layers.Params                       // declared only: names, shapes and causal buffers of the weights file
	build      func(layers.Scope) (forward, error)  // makes the layer
	buffers    []string                             // names that the weights file may also contain; ignored
	sequences  []sequenceSpec                       // of the input file; the first is required
	extras     []extraSpec                          // optional tensors of the input file
	heads      int                                  // H in the shapes of the extras
	check      func(*tensorFile, mask.Scores) error // other checks of the input; nil if there are none
}

// forward builds a layer's graph on inputs. The build keeps its errors.
type forward func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node)

// declare returns a layer whose parameters are those that construct makes for a config. call builds the layer's graph.
func declare[C, L any](
	name string, construct func(layers.Scope, C) (L, error), c C,
	call func(l L, b *layers.Build, in map[string]*G.Node) (out, weights *G.Node),
) (*Layer, error) {
	parameters, err := layers.Declare(construct, c)
	build := func(s layers.Scope) (forward, error) {
		l, err := construct(s, c)
		return func(b *layers.Build, in map[string]*G.Node) (out, weights *G.Node) { return call(l, b, in) }, err
	}
	return &Layer{Name: name, parameters: parameters, build: build}, err
}

// Parameters returns the names of the parameters, which the file of weights must contain.
func (l *Layer) Parameters() (names []string) {
	for name := range l.parameters.Shapes() {
		names = append(names, name)
	}
	return names
}

// checkWeights checks that the file has the layer's parameters, each in its shape.
func (l *Layer) checkWeights(f *tensorFile) error {
	optional := slices.Clone(l.buffers)
	for name := range l.parameters.Buffers() {
		optional = append(optional, name)
	}
	if err := f.checkNames(l.Name, l.Parameters(), optional); err != nil {
		return err
	}
	for name, want := range l.parameters.Shapes() {
		if err := f.checkKind(name, realNumbers); err != nil {
			return err
		}
		if got := f.shape(name); !slices.Equal(got, want) {
			return f.fail(name, "shape %v, want %v", got, want)
		}
	}
	for name, n := range l.parameters.Buffers() {
		if err := l.checkCausal(f, name, n); err != nil {
			return err
		}
	}
	return nil
}

// checkCausal checks a buffer (C, C) if the file has it. The input may then be no longer than C.
func (l *Layer) checkCausal(f *tensorFile, name string, contextLength int) error {
	if !f.has(name) {
		return nil
	}
	if slices.Contains(f.shape(name), 0) {
		return f.fail(name, "shape %v, want every axis at least 1", f.shape(name))
	}
	t, err := f.read(name)
	if err != nil {
		return err
	}
	v := tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(t.Data))
	if err := layers.CheckCausalMask(v, contextLength); err != nil {
		return f.fail(name, "%v", err)
	}
	for i := range l.sequences {
		l.sequences[i].longest = t.Shape[0]
	}
	return nil
}

// selfConfig holds the fields of chapter.Config that are used by layers for a single sequence, and a step of the
// chapter. Each of them ignores the fields that it does not use.
type selfConfig struct {
	EmbedDim      int     `json:"embed_dim"`
	OutDim        int     `json:"out_dim"`
	ContextLength int     `json:"context_length"`
	NumHeads      int     `json:"num_heads"`
	QKVBias       bool    `json:"qkv_bias"`
	Dropout       float64 `json:"dropout"`
}

// newSelfAttention returns one of the chapter's layers other than additive.
func newSelfAttention(text []byte) (*Layer, error) {
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
	l, err := declare(c.Layer, chapter.New, c,
		func(l chapter.Layer, b *layers.Build, in map[string]*G.Node) (out, weights *G.Node) {
			out, weights = b.Of(l.Forward(b, in["x"])), b.Of(l.Weights(b, in["x"]))
			if !c.Uses("NumHeads") {
				weights = b.Of(graph.MergeHeads(weights)) // (…, 1, T, T) → (…, T, T)
			}
			return out, weights
		})
	if err != nil {
		return nil, err
	}
	x := sequenceSpec{name: "x", length: "T", width: c.EmbedDim}
	if c.Causal() {
		x.longest = c.ContextLength
	}
	l.sequences = []sequenceSpec{x}
	return l, nil
}

// newAdditive returns the layer additive.
func newAdditive(text []byte) (*Layer, error) {
	var c layers.AdditiveAttentionConfig
	if err := config.Decode(text, new(envelope), &c); err != nil {
		return nil, err
	}
	l, err := declare(additiveName, layers.NewAdditiveAttention, c,
		func(l *layers.AdditiveAttention, b *layers.Build, in map[string]*G.Node) (out, weights *G.Node) {
			out, weights = b.Of(l.Forward(b, in["query"], in["key"])), b.Of(l.Weights(b, in["query"], in["key"]))
			return out, b.Of(graph.MergeHeads(weights)) // (…, 1, T, S) → (…, T, S)
		})
	if err != nil {
		return nil, err
	}
	l.sequences = []sequenceSpec{
		{name: "query", length: "T", width: c.QueryDim},
		{name: "key", length: "S", width: c.KeyDim},
	}
	return l, nil
}
