package chapter

import (
	"cmp"
	"fmt"
	"math"

	"attention/graph"
	"attention/internal/config"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SelfAttentionV1Config sizes a SelfAttentionV1.
type SelfAttentionV1Config struct {
	EmbedDim int `json:"d_in"`  // width of the tokens
	OutDim   int `json:"d_out"` // width of the context vectors
}

// Validate returns an error that names the first wrong field.
func (c SelfAttentionV1Config) Validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "EmbedDim", "OutDim"), config.AtMost(c, math.MaxInt32, "OutDim"))
	if err == nil && c.EmbedDim > math.MaxInt32/c.OutDim {
		err = config.Errorf(c, "EmbedDim", "got %d for %s=%d, want at most %d elements in a weight",
			c.EmbedDim, config.Field("OutDim"), c.OutDim, math.MaxInt32)
	}
	if err != nil {
		return fmt.Errorf("chapter: SelfAttentionV1: %w", err)
	}
	return nil
}

// SelfAttentionV1 is self-attention with raw weight matrices W_query, W_key and W_value
// (EmbedDim, OutDim), uniform in [0, 1).
type SelfAttentionV1 struct {
	path, name string // name is the layer's in errors
	config     SelfAttentionV1Config
	params     *layers.Params
	weights    [3]layers.Param // of queries, keys and values
}

// projections are the names of the three weights.
var projections = [3]string{"W_query", "W_key", "W_value"}

// NewSelfAttentionV1 makes the parameters W_query, W_key and W_value.
func NewSelfAttentionV1(s layers.Scope, c SelfAttentionV1Config) (*SelfAttentionV1, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &SelfAttentionV1{path: s.Path(), name: "SelfAttentionV1", config: c, params: s.Params()}
	if l.path != "" {
		l.name = l.path + ": SelfAttentionV1"
	}
	for i, name := range projections {
		var err error
		if l.weights[i], err = s.Param(name, layers.Uniform(0, 1), c.EmbedDim, c.OutDim); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Forward maps x (…, T, EmbedDim) to context vectors (…, T, OutDim).
func (l *SelfAttentionV1) Forward(b *layers.Build, x *G.Node) (*G.Node, error) {
	q, k, v, err := l.project(b, x)
	if err != nil {
		return nil, err
	}
	return attend(b, l.path, q, k, v, graph.AttentionConfig{})
}

// Weights returns the attention weights (…, 1, T, T).
func (l *SelfAttentionV1) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	q, k, v, err := l.project(b, x)
	if err != nil {
		return nil, err
	}
	return weights(q, k, v, graph.AttentionConfig{})
}

// project returns queries, keys and values (…, T, OutDim).
func (l *SelfAttentionV1) project(b *layers.Build, x *G.Node) (q, k, v *G.Node, err error) {
	if err := checkTokens(l.name, b, x, l.config.EmbedDim); err != nil {
		return nil, nil, nil, err
	}
	var f expr.Formula
	q = f.Of(graph.MatMul(x, b.Node(l.weights[0])))
	k = f.Of(graph.MatMul(x, b.Node(l.weights[1])))
	v = f.Of(graph.MatMul(x, b.Node(l.weights[2])))
	if err := cmp.Or(b.Err(), f.Err()); err != nil {
		return nil, nil, nil, fmt.Errorf("chapter: %s: %w", l.name, err)
	}
	return q, k, v, nil
}

// SetV1 copies the weights of v2, an Attention of SelfV2, into v1 of the same sizes,
// transposed as nn.Linear stores them. Both then give equal output. A v2 with biases is
// refused, since v1 has none.
func SetV1(v1 *SelfAttentionV1, v2 *layers.Attention) error {
	state, err := v2.State(layers.Book)
	if err != nil {
		return err
	}
	if _, ok := state["W_query.bias"]; ok {
		return fmt.Errorf("chapter: %s: weights: got a SelfV2 with biases, want one without", v1.name)
	}
	for i, name := range projections {
		w, err := tensor.Transpose(state[name+".weight"])
		if err != nil {
			return fmt.Errorf("chapter: %s: %s: %w", v1.name, name, err)
		}
		if err := v1.params.Set(v1.weights[i].Name(), w.(*tensor.Dense)); err != nil {
			return err
		}
	}
	return nil
}

// SetV2 copies the weights of v1 into v2, an Attention of SelfV2 of the same sizes, and sets
// its biases to zero. Both then give equal output.
func SetV2(v2 *layers.Attention, v1 *SelfAttentionV1) error {
	state, err := v2.State(layers.Book)
	if err != nil {
		return err
	}
	for i, name := range projections {
		w, err := tensor.Transpose(v1.weights[i].Value())
		if err != nil {
			return fmt.Errorf("chapter: %s: %s: %w", v1.name, name, err)
		}
		state[name+".weight"] = w.(*tensor.Dense)
		if bias, ok := state[name+".bias"]; ok {
			bias.Zero()
		}
	}
	return v2.SetState(layers.Book, state)
}
