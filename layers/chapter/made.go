package chapter

import (
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// attention is an Attention of a section. The build keeps its errors.
type attention struct {
	walk  *walk
	layer *layers.Attention // nil after an error
}

// attention makes an Attention under a path.
func (w *walk) attention(path string, c layers.AttentionConfig) attention {
	return w.attentionIn(w.Params().Scope(path), c)
}

// attentionIn makes an Attention in a scope.
func (w *walk) attentionIn(s layers.Scope, c layers.AttentionConfig) attention {
	l, err := layers.NewAttention(s, c)
	w.keep(err)
	return attention{w, l}
}

// keep makes an error, which may be nil, an error of the build.
func (w *walk) keep(err error) {
	if err != nil {
		w.Of(nil, err)
	}
}

// forward returns the context vectors of x.
func (l attention) forward(x *G.Node) *G.Node {
	if l.walk.Err() != nil {
		return x
	}
	return l.walk.Of(l.layer.Forward(l.walk.Build, x))
}

// weights returns the attention weights for x.
func (l attention) weights(x *G.Node) *G.Node {
	if l.walk.Err() != nil {
		return x
	}
	return l.walk.Of(l.layer.Weights(l.walk.Build, layers.AttentionInput{Query: x}))
}

// setState copies the parameters of another Attention, whatever the layouts of both.
func (l attention) setState(from attention) {
	if l.walk.Err() != nil {
		return
	}
	state, err := from.layer.State(layers.Book)
	if err == nil {
		err = l.layer.SetState(layers.Book, state)
	}
	l.walk.keep(err)
}

// linear returns the result of a new linear layer for x.
func (w *walk) linear(x *G.Node, path string, in, out int) *G.Node {
	l, err := layers.NewLinear(w.Params().Scope(path), layers.LinearConfig{InFeatures: in, OutFeatures: out})
	if w.keep(err); w.Err() != nil {
		return x
	}
	return w.Of(l.Forward(w.Build, x))
}
