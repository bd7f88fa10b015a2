package layers

import (
	"attention/graph"
	"attention/graph/mask"
)

// AttentionConfig says what an Attention is made of. All but Width and NumHeads may be
// zero: then it is plain multi-head attention without biases.
type AttentionConfig struct {
	Width      int // E, of the queries
	KeyWidth   int // of the keys; 0 means Width
	ValueWidth int // of the values; 0 means Width
	Out        int // width of the output; 0 means Width

	NumHeads   int // H, a divisor of Out unless HeadDim is given
	NumKVHeads int // K, a divisor of NumHeads: fewer than H is grouped-query attention, 1 multi-query; 0 means H
	HeadDim    int // D, width of a head's queries and keys; 0 means Out/NumHeads
	ValueDim   int // Dv, width of a head's values; 0 means HeadDim

	QKVBias     bool   // a bias in the three projections
	OutBias     bool   // a bias in the output projection
	ContextOnly bool   // no output projection: the output is the heads' side by side, and Out is H·Dv
	Layout      Layout // names, shapes and initial values of the parameters; zero means Book
	// OutStd is the standard deviation of the output projection's initial weights; 0
	// means as Layout draws them.
	OutStd float64

	ContextLength int // the longest sequence of queries, keys and values; 0 means any

	Scale   float64 // of the scores; 0 means 1/√D
	Softcap float64 // keeps scores within ±Softcap (Gemma 2); 0 means no cap

	Mask        mask.Mask // which keys a query sees in every call; nil means all
	Renormalize bool      // hide by zeroing weights and dividing by the sum of the rest, instead of −∞ before the softmax; not with Sinks

	// Align says where the queries stand among the keys, for RoPE, ALiBi and
	// RelativeBias, if there are not as many; zero, mask.Square, refuses that.
	Align        mask.Alignment
	RoPE         *graph.RoPEConfig   // rotary positions, its Heads 0: they are NumHeads and NumKVHeads; nil means none
	ALiBi        bool                // a bias that falls with distance (Press et al. 2022)
	RelativeBias *RelativeBiasConfig // a learned bias by distance (T5); nil means none

	QKNorm      QKNorm  // normalisation of each head's queries and keys, with a learned gain; zero means none
	QKNormEps   float64 // of QKNorm, else 0; 0 means 1e-6 for RMSNorm, 1e-12 for L2Norm
	Sinks       bool    // a learned score of each head that takes weight and has no value (gpt-oss)
	Gate        bool    // the heads' outputs times sigmoid(query·gate_proj), before the output projection (Qiu et al. 2025)
	AddBiasKV   bool    // a learned key and value after the others (torch's add_bias_kv)
	AddZeroAttn bool    // a key and value of zeros after the others (torch's add_zero_attn)

	Dropout        float64 // of the weights, in Train graphs; 0 means none
	ContextDropout float64 // of the heads' outputs, before the output projection; 0 means none
	OutDropout     float64 // of the output; 0 means none
}

// RelativeBiasConfig sizes the learned bias of T5.
type RelativeBiasConfig struct {
	Buckets        int  // of distances, an even number from 4 on, or any from 2 on if Unidirectional; 0 means 32
	MaxDistance    int  // distances from here on share a bucket; 0 means 128
	Unidirectional bool // the decoder's form, in which all later keys share the bucket of the query's own position
}

// QKNorm is how queries and keys are normalised.
type QKNorm string

// The kinds of QKNorm.
const (
	NoQKNorm QKNorm = ""
	L2Norm   QKNorm = "l2"  // x/‖x‖·gain (Henry et al. 2020)
	RMSNorm  QKNorm = "rms" // x/√(mean x² + eps)·gain (as in Qwen 3)
)

// resolved returns c with zero sizes replaced by their defaults.
func (c AttentionConfig) resolved() AttentionConfig {
	or := func(n *int, instead int) {
		if *n == 0 {
			*n = instead
		}
	}
	or(&c.KeyWidth, c.Width)
	or(&c.ValueWidth, c.Width)
	or(&c.NumKVHeads, c.NumHeads)
	if c.HeadDim == 0 {
		or(&c.Out, c.Width)
		c.HeadDim = c.Out / c.NumHeads
	}
	or(&c.ValueDim, c.HeadDim)
	if c.ContextOnly {
		or(&c.Out, c.contextWidth())
	}
	or(&c.Out, c.Width)
	if c.Layout == "" {
		c.Layout = Book
	}
	if c.RoPE != nil { // a copy, so that later changes by the caller do not reach the layer
		r := *c.RoPE
		c.RoPE = &r
	}
	if c.RelativeBias != nil {
		b := *c.RelativeBias
		or(&b.Buckets, 32)
		or(&b.MaxDistance, 128)
		c.RelativeBias = &b
	}
	if c.QKNormEps == 0 {
		c.QKNormEps = 1e-6
		if c.QKNorm == L2Norm {
			c.QKNormEps = 1e-12
		}
	}
	return c
}

// queryWidth, keyWidth, valueWidth and contextWidth are those of all heads side by side.
func (c AttentionConfig) queryWidth() int   { return c.NumHeads * c.HeadDim }
func (c AttentionConfig) keyWidth() int     { return c.NumKVHeads * c.HeadDim }
func (c AttentionConfig) valueWidth() int   { return c.NumKVHeads * c.ValueDim }
func (c AttentionConfig) contextWidth() int { return c.NumHeads * c.ValueDim }

// projected returns the widths that queries, keys and values are projected to.
func (c AttentionConfig) projected() [3]int {
	return [3]int{c.queryWidth(), c.keyWidth(), c.valueWidth()}
}

// head returns the config of one head in the layout PerHead: an attention of its own.
func (c AttentionConfig) head() AttentionConfig {
	c.Layout, c.NumHeads, c.NumKVHeads, c.ContextOnly, c.Out = Book, 1, 1, true, c.ValueDim
	c.OutBias, c.OutStd, c.Gate, c.ContextLength = false, 0, false, 0
	c.OutDropout = 0
	return c
}

// Validate returns an error that names the first wrong field.
func (c AttentionConfig) Validate() error {
	const layer = "Attention"
	if err := c.validateSizes(layer); err != nil {
		return err
	}
	err := notNegative(layer, number{"Scale", c.Scale}, number{"Softcap", c.Softcap},
		number{"QKNormEps", c.QKNormEps}, number{"OutStd", c.OutStd})
	if err != nil {
		return err
	}
	err = probabilities(layer, number{"Dropout", c.Dropout}, number{"ContextDropout", c.ContextDropout},
		number{"OutDropout", c.OutDropout})
	if err != nil {
		return err
	}
	if err := c.validateParts(layer); err != nil {
		return err
	}
	if err := c.resolved().validateLayout(layer); err != nil {
		return err
	}
	_, err = Declare(newAttention, c) // refuses a parameter that is too large
	return within(layer, err)
}

// validateSizes checks the sizes and what they have to do with each other.
func (c AttentionConfig) validateSizes(layer string) error {
	if err := atLeastOne(layer, size{"Width", c.Width}, size{"NumHeads", c.NumHeads}); err != nil {
		return err
	}
	err := notBelowZero(layer, size{"KeyWidth", c.KeyWidth}, size{"ValueWidth", c.ValueWidth}, size{"Out", c.Out},
		size{"NumKVHeads", c.NumKVHeads}, size{"HeadDim", c.HeadDim}, size{"ValueDim", c.ValueDim}, size{"ContextLength", c.ContextLength})
	if err != nil {
		return err
	}
	r := c.resolved()
	if c.HeadDim == 0 && r.Out%c.NumHeads != 0 {
		return errorf(layer, "NumHeads: got %d, want a divisor of Out=%d, or HeadDim", c.NumHeads, r.Out)
	}
	if c.NumHeads%r.NumKVHeads != 0 {
		return errorf(layer, "NumKVHeads: got %d, want 0 or a divisor of NumHeads=%d", c.NumKVHeads, c.NumHeads)
	}
	for _, s := range []size{{"Width", r.Width}, {"KeyWidth", r.KeyWidth}, {"ValueWidth", r.ValueWidth}, {"Out", r.Out},
		{"NumHeads", r.NumHeads}, {"HeadDim", r.HeadDim}, {"ValueDim", r.ValueDim},
		{"NumHeads·HeadDim", r.queryWidth()}, {"NumHeads·ValueDim", r.contextWidth()}} {
		if s.got > maxElements {
			return errorf(layer, "%s: got %d, want at most %d", s.name, s.got, maxElements)
		}
	}
	if c.ContextOnly && r.Out != r.contextWidth() {
		return errorf(layer, "Out: got %d with ContextOnly, want 0 or NumHeads·ValueDim=%d", c.Out, r.contextWidth())
	}
	return nil
}

// validateParts checks the parts that may be missing.
func (c AttentionConfig) validateParts(layer string) error {
	switch {
	case c.ContextOnly && c.OutBias:
		return errorf(layer, "OutBias: got it with ContextOnly, want one of the two")
	case c.ContextOnly && c.OutStd != 0:
		return errorf(layer, "OutStd: got %v with ContextOnly, want 0", c.OutStd)
	case c.Renormalize && c.Sinks:
		return errorf(layer, "Sinks: got them with Renormalize, want one of the two")
	case c.QKNorm != NoQKNorm && c.QKNorm != L2Norm && c.QKNorm != RMSNorm:
		return errorf(layer, "QKNorm: got %q, want %q, %q or none", c.QKNorm, L2Norm, RMSNorm)
	case c.QKNorm == NoQKNorm && c.QKNormEps != 0:
		return errorf(layer, "QKNormEps: got %v without QKNorm, want 0", c.QKNormEps)
	case c.RoPE != nil && c.RoPE.Heads != 0:
		return errorf(layer, "RoPE.Heads: got %d, want 0: they are NumHeads and NumKVHeads", c.RoPE.Heads)
	}
	if c.Mask != nil {
		if err := mask.Validate(c.Mask); err != nil {
			return errorf(layer, "Mask: %w", err)
		}
	}
	if _, err := c.Align.MarshalText(); err != nil {
		return errorf(layer, "Align: %w", err)
	}
	if c.RoPE != nil {
		if err := c.RoPE.Validate(c.resolved().HeadDim); err != nil {
			return errorf(layer, "RoPE: %w", err)
		}
	}
	if r := c.resolved().RelativeBias; r != nil {
		return r.validate(layer)
	}
	return nil
}

// validateLayout checks that the layout has all that a resolved config asks for.
func (c AttentionConfig) validateLayout(layer string) error {
	if err := c.Layout.validate(layer); err != nil {
		return err
	}
	if c.Layout == GPT2 && (c.KeyWidth != c.Width || c.ValueWidth != c.Width) {
		return errorf(layer, "Layout: got %q with keys %d and values %d wide, want both %d wide as the queries, or another layout",
			c.Layout, c.KeyWidth, c.ValueWidth, c.Width)
	}
	if c.Layout != PerHead {
		return nil
	}
	if c.NumHeads > maxHeads {
		return errorf(layer, "NumHeads: got %d in the layout %q, want at most %d", c.NumHeads, PerHead, maxHeads)
	}
	for _, x := range []struct {
		name string
		is   bool
	}{{"fewer NumKVHeads", c.NumKVHeads != c.NumHeads}, {"ALiBi", c.ALiBi}, {"RelativeBias", c.RelativeBias != nil},
		{"QKNorm", c.QKNorm != NoQKNorm}, {"Sinks", c.Sinks}, {"AddBiasKV", c.AddBiasKV}} {
		if x.is {
			return errorf(layer, "Layout: got %q with %s, want another layout", PerHead, x.name)
		}
	}
	return nil
}

// maxHeads bounds the heads of the layout PerHead, each of which is a layer.
const maxHeads = 1 << 16

// validate returns an error that names the first wrong field of a config without zeros.
func (c RelativeBiasConfig) validate(layer string) error {
	side := c.Buckets // of the keys before a query, of which half hold one distance each
	if !c.Unidirectional {
		side /= 2
	}
	if side < 2 || !c.Unidirectional && c.Buckets%2 != 0 {
		return errorf(layer, "RelativeBias: Buckets: got %d, want an even number from 4 on, or if Unidirectional any from 2 on", c.Buckets)
	}
	if c.MaxDistance <= side/2 {
		return errorf(layer, "RelativeBias: MaxDistance: got %d, want more than the %d distances that have a bucket each", c.MaxDistance, side/2)
	}
	return nil
}
