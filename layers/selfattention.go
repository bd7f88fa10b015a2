package layers

import (
	"fmt"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// SelfAttention is attention of a sequence to itself. All layers of the chapter
// but the additive one are of this kind.
type SelfAttention interface {
	// Forward maps x (T, In) or (B, T, In) to context vectors (…, T, Out).
	Forward(b *Build, x *G.Node) (*G.Node, error)
	// ForwardWithWeights also returns the attention weights (…, T, T), per head
	// (…, H, T, T) where there are heads, as they met the values: after dropout in
	// a Train graph.
	ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error)
}

// SimpleSelfAttention is self-attention without trainable weights: every token is
// query, key and value at once, and scores are not scaled.
type SimpleSelfAttention struct{}

// Forward maps x (…, T, In) to softmax(x·xᵀ)·x.
func (l SimpleSelfAttention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return withoutWeights(l.forward(b, x, fused))
}

// ForwardWithWeights also returns the weights (…, T, T).
func (l SimpleSelfAttention) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.forward(b, x, graph.Attention)
}

func (SimpleSelfAttention) forward(b *Build, x *G.Node, attend attend) (out, weights *G.Node, err error) {
	if err := checkSequence("SimpleSelfAttention", "x", b, x, 0, 0); err != nil {
		return nil, nil, err
	}
	return attend(x, x, x, graph.AttentionConfig{Scale: 1})
}

// SelfAttentionV1Config sizes a SelfAttentionV1.
type SelfAttentionV1Config struct{ In, Out int }

// Validate says what is wrong with the sizes.
func (c SelfAttentionV1Config) Validate() error {
	return atLeastOne("SelfAttentionV1", size{"In", c.In}, size{"Out", c.Out})
}

// SelfAttentionV1 is self-attention with raw weight matrices W_query, W_key and
// W_value (In, Out), uniform in [0, 1).
type SelfAttentionV1 struct {
	name              string // in errors
	config            SelfAttentionV1Config
	query, key, value Param
}

// NewSelfAttentionV1 makes the parameters W_query, W_key and W_value.
func NewSelfAttentionV1(s Scope, c SelfAttentionV1Config) (*SelfAttentionV1, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	l := &SelfAttentionV1{name: s.name("SelfAttentionV1"), config: c}
	for _, p := range []struct {
		name string
		to   *Param
	}{{"W_query", &l.query}, {"W_key", &l.key}, {"W_value", &l.value}} {
		var err error
		if *p.to, err = s.Param(p.name, Uniform(0, 1), c.In, c.Out); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Forward maps x (…, T, In) to context vectors (…, T, Out).
func (l *SelfAttentionV1) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return withoutWeights(l.forward(b, x, fused))
}

// ForwardWithWeights also returns the weights (…, T, T).
func (l *SelfAttentionV1) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.forward(b, x, graph.Attention)
}

func (l *SelfAttentionV1) forward(b *Build, x *G.Node, attend attend) (out, weights *G.Node, err error) {
	if err := checkSequence(l.name, "x", b, x, l.config.In, 0); err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	q := f.Of(graph.MatMul(x, f.Of(b.param(l.query))))
	k := f.Of(graph.MatMul(x, f.Of(b.param(l.key))))
	v := f.Of(graph.MatMul(x, f.Of(b.param(l.value))))
	out, weights = f.Of2(attend(q, k, v, graph.AttentionConfig{}))
	return result2(l.name, &f, out, weights)
}

// SelfAttentionV2Config sizes a SelfAttentionV2.
type SelfAttentionV2Config struct {
	In, Out int
	QKVBias bool // a bias in the three projections
}

// Validate says what is wrong with the sizes.
func (c SelfAttentionV2Config) Validate() error {
	return atLeastOne("SelfAttentionV2", size{"In", c.In}, size{"Out", c.Out})
}

// SelfAttentionV2 is self-attention with linear projections.
type SelfAttentionV2 struct{ self selfAttention }

// NewSelfAttentionV2 makes the parameters W_query.weight, W_key.weight and
// W_value.weight (Out, In) and, with QKVBias, their .bias (Out).
func NewSelfAttentionV2(s Scope, c SelfAttentionV2Config) (*SelfAttentionV2, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	a := AttentionConfig{Width: c.In, Out: c.Out, NumHeads: 1, QKVBias: c.QKVBias}
	self, err := newSelfAttention(s, "SelfAttentionV2", a, form{headless: true, bare: true}, 0)
	return &SelfAttentionV2{self}, err
}

// Forward maps x (…, T, In) to context vectors (…, T, Out).
func (l *SelfAttentionV2) Forward(b *Build, x *G.Node) (*G.Node, error) { return l.self.Forward(b, x) }

// ForwardWithWeights also returns the weights (…, T, T).
func (l *SelfAttentionV2) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.self.ForwardWithWeights(b, x)
}

// Attention is the layer that does the work, over the same parameters: it knows their
// states in PyTorch's layouts.
func (l *SelfAttentionV2) Attention() *Attention { return l.self.Attention }

// selfAttention is an Attention of sequences to themselves, the queries being x.
type selfAttention struct {
	*Attention
	contextLength int // the longest sequence; 0 means any
}

func newSelfAttention(s Scope, layer string, c AttentionConfig, f form, contextLength int) (selfAttention, error) {
	a, err := newAttention(s, layer, c, f)
	return selfAttention{a, contextLength}, err
}

func (l selfAttention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	if err := checkSequence(l.name, "x", b, x, l.config.Width, l.contextLength); err != nil {
		return nil, err
	}
	return l.Attention.Forward(b, AttentionInput{Query: x})
}

func (l selfAttention) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	if err := checkSequence(l.name, "x", b, x, l.config.Width, l.contextLength); err != nil {
		return nil, nil, err
	}
	return l.Attention.ForwardWithWeights(b, AttentionInput{Query: x})
}

// checkSequence refuses what is no sequence (T, in) or (B, T, in) of the build's
// graph and type, with T at most maxT; 0 leaves in or maxT free. After an error of the
// build it returns that, since x may only stand for a missing node.
func checkSequence(layer, arg string, b *Build, x *G.Node, in, maxT int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if x == nil {
		return errorf(layer, "%s: got nil, want a node", arg)
	}
	want := "([B,] T"
	if arg == "key" || arg == "value" {
		want = "([B,] S"
	}
	if maxT > 0 {
		want += fmt.Sprintf(" <= %d", maxT)
	}
	if in > 0 {
		want += fmt.Sprintf(", %d)", in)
	} else {
		want += ", E)"
	}
	s := x.Shape()
	n := s.Dims()
	if n != 2 && n != 3 || in > 0 && s[n-1] != in || maxT > 0 && s[n-2] > maxT {
		return errorf(layer, "%s: shape %v, want %s", arg, s, want)
	}
	if dt := b.Params().Dtype(); x.Dtype() != dt {
		return errorf(layer, "%s: got %v, want %v as the parameters", arg, x.Dtype(), dt)
	}
	return nil
}
