package chapter

import (
	"fmt"

	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// SimpleSelfAttention is self-attention without trainable weights: every token is query,
// key and value at once, and scores are not scaled.
type SimpleSelfAttention struct{}

// Forward maps x (…, T, E) to softmax(x·xᵀ)·x.
func (SimpleSelfAttention) Forward(b *layers.Build, x *G.Node) (*G.Node, error) {
	if err := checkTokens("SimpleSelfAttention", b, x, 0); err != nil {
		return nil, err
	}
	return attend(b, "", x, x, x, graph.AttentionConfig{Scale: 1})
}

// Weights returns the attention weights (…, 1, T, T).
func (SimpleSelfAttention) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	if err := checkTokens("SimpleSelfAttention", b, x, 0); err != nil {
		return nil, err
	}
	return weights(x, x, x, graph.AttentionConfig{Scale: 1})
}

// attend is attention in one op, or composed of one for each step if the layer at path is
// observed, as of a layers.Attention.
func attend(b *layers.Build, path string, q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
	if !b.Observes(path) {
		return graph.FusedAttention(q, k, v, c)
	}
	c.Heads = 1
	out, _, err := graph.Attention(q, k, v, c)
	return out, err
}

// weights returns the weights (…, 1, T, S) of attention.
func weights(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
	c.Heads = 1
	_, w, err := graph.Attention(q, k, v, c)
	return w, err
}

// checkTokens refuses what is no sequence (T, width) or (B, T, width) of the parameters'
// type; 0 leaves the width free. After an error of the build it returns that.
func checkTokens(layer string, b *layers.Build, x *G.Node, width int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if x == nil {
		return fmt.Errorf("chapter: %s: x: got nil, want a node", layer)
	}
	want := "([B,] T, E)"
	if width > 0 {
		want = fmt.Sprintf("([B,] T, %d)", width)
	}
	if s := x.Shape(); s.Dims() < 2 || s.Dims() > 3 || width > 0 && s[s.Dims()-1] != width {
		return fmt.Errorf("chapter: %s: x: shape %v, want %s", layer, s, want)
	}
	if dt := b.Params().Dtype(); x.Dtype() != dt {
		return fmt.Errorf("chapter: %s: x: got %v, want %v as the parameters", layer, x.Dtype(), dt)
	}
	return nil
}
