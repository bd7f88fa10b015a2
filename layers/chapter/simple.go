package chapter

import (
	"errors"
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
	if err := checkTokens(b, x); err != nil {
		return nil, err
	}
	if b.Composes("") {
		out, _, err := graph.Attention(x, x, x, unscaled(b))
		return out, err
	}
	in := graph.FusedInputs{Query: x, Key: x, Value: x, Stats: b.Observes("")}
	r, err := graph.FusedAttention(in, unscaled(b))
	return r.Out, err
}

// Weights returns the attention weights (…, 1, T, T).
func (SimpleSelfAttention) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	if err := checkTokens(b, x); err != nil {
		return nil, err
	}
	_, weights, err := graph.Attention(x, x, x, unscaled(b))
	return weights, err
}

// Operands returns x as queries, keys and values.
func (SimpleSelfAttention) Operands(b *layers.Build, x *G.Node) (layers.AttentionOperands, error) {
	if err := checkTokens(b, x); err != nil {
		return layers.AttentionOperands{}, err
	}
	return layers.AttentionOperands{ProjectedQuery: x, ProjectedKey: x, Query: x, Key: x, Value: x,
		Config: unscaled(b)}, nil
}

// unscaled returns the config of attention of x to itself.
func unscaled(b *layers.Build) graph.AttentionConfig {
	return graph.AttentionConfig{Heads: 1, Scale: 1, Precision: b.Precision()}
}

// checkBuild returns an error for a build that layers.NewBuild did not make, and the error of a build that has failed.
func checkBuild(b *layers.Build) error {
	if b == nil || b.Graph() == nil {
		return errors.New("chapter: build: got nil or its zero value, want one of layers.NewBuild")
	}
	return b.Err()
}

// checkTokens returns an error unless x is a sequence (T, E) or (B, T, E) of the parameters' type. After an error of
// the build it returns that error.
func checkTokens(b *layers.Build, x *G.Node) error {
	if err := checkBuild(b); err != nil {
		return err
	}
	if x == nil {
		return errors.New("chapter: SimpleSelfAttention: x: got nil, want a node")
	}
	if s := x.Shape(); s.Dims() < 2 || s.Dims() > 3 {
		return fmt.Errorf("chapter: SimpleSelfAttention: x: shape %v, want ([B,] T, E)", s)
	}
	if dt := b.Params().Dtype(); x.Dtype() != dt {
		return fmt.Errorf("chapter: SimpleSelfAttention: x: got %v, want %v as the parameters", x.Dtype(), dt)
	}
	return nil
}
