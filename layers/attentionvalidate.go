package layers

import (
	"math"

	"attention/graph/mask"
)

// Validate says what is wrong with the config.
func (c AttentionConfig) Validate() error {
	const layer = "Attention"
	if err := atLeastOne(layer, size{"Width", c.Width}, size{"NumHeads", c.NumHeads}); err != nil {
		return err
	}
	for _, s := range []size{{"KeyWidth", c.KeyWidth}, {"ValueWidth", c.ValueWidth}, {"Out", c.Out}, {"NumKVHeads", c.NumKVHeads},
		{"HeadDim", c.HeadDim}, {"ValueDim", c.ValueDim}} {
		if s.got < 0 {
			return errorf(layer, "%s: got %d, want at least 0", s.name, s.got)
		}
	}
	r := c.resolved()
	if c.HeadDim == 0 && r.Out%c.NumHeads != 0 {
		return errorf(layer, "NumHeads: got %d, want a divisor of Out=%d, or HeadDim", c.NumHeads, r.Out)
	}
	if c.NumHeads%r.NumKVHeads != 0 {
		return errorf(layer, "NumKVHeads: got %d, want 0 or a divisor of NumHeads=%d", c.NumKVHeads, c.NumHeads)
	}
	if c.Mask != nil {
		if err := mask.Validate(c.Mask); err != nil {
			return errorf(layer, "Mask: %w", err)
		}
	}
	if c.RoPE != nil && c.RoPE.Heads != 0 {
		return errorf(layer, "RoPE.Heads: got %d, want 0: they are NumHeads and NumKVHeads", c.RoPE.Heads)
	}
	if c.RoPE != nil {
		if err := c.RoPE.Validate(r.HeadDim); err != nil {
			return errorf(layer, "RoPE: %w", err)
		}
	}
	if err := c.validateNumbers(layer); err != nil {
		return err
	}
	if c.QKNormEps != 0 && c.QKNorm == NoQKNorm {
		return errorf(layer, "QKNormEps: got %v without QKNorm, want 0", c.QKNormEps)
	}
	if err := r.validateNames(layer); err != nil {
		return err
	}
	if r.RelativeBias != nil {
		if err := r.RelativeBias.validate(layer); err != nil {
			return err
		}
	}
	return r.checkElements(layer)
}

func (c AttentionConfig) validateNumbers(layer string) error {
	for _, x := range []struct {
		name string
		got  float64
	}{{"Scale", c.Scale}, {"Softcap", c.Softcap}, {"QKNormEps", c.QKNormEps}, {"OutStd", c.OutStd}} {
		if !(x.got >= 0) || math.IsInf(x.got, 0) {
			return errorf(layer, "%s: got %v, want a finite number of at least 0", x.name, x.got)
		}
	}
	for _, p := range []struct {
		name string
		got  float64
	}{{"Dropout", c.Dropout}, {"ContextDropout", c.ContextDropout}, {"OutDropout", c.OutDropout}} {
		if err := probability(layer, p.name, p.got); err != nil {
			return err
		}
	}
	if c.Renormalize && c.Sinks {
		return errorf(layer, "Sinks: got them with Renormalize, want one of the two")
	}
	return nil
}

// validate says what is wrong with a config whose zeros are replaced.
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

func (c AttentionConfig) validateNames(layer string) error {
	if n := c.QKNorm; n != NoQKNorm && n != L2Norm && n != RMSNorm {
		return errorf(layer, "QKNorm: got %q, want %q, %q or none", n, L2Norm, RMSNorm)
	}
	if _, err := c.Align.MarshalText(); err != nil {
		return errorf(layer, "Align: %w", err)
	}
	if _, ok := layouts[c.Layout]; !ok {
		return errorf(layer, "Layout: got %q, want one of %v", c.Layout, Layouts())
	}
	if c.Layout == GPT2 && (c.KeyWidth != c.Width || c.ValueWidth != c.Width) {
		return errorf(layer, "Layout: got %q with keys %d and values %d wide, want both %d wide as the queries, or another layout",
			c.Layout, c.KeyWidth, c.ValueWidth, c.Width)
	}
	return nil
}

// checkElements refuses sizes whose products no parameter can have.
func (c AttentionConfig) checkElements(layer string) error {
	for _, s := range []size{{"Width", c.Width}, {"KeyWidth", c.KeyWidth}, {"ValueWidth", c.ValueWidth}, {"Out", c.Out},
		{"NumHeads", c.NumHeads}, {"HeadDim", c.HeadDim}, {"ValueDim", c.ValueDim},
		{"NumHeads·HeadDim", c.queryWidth()}, {"NumHeads·ValueDim", c.contextWidth()}} {
		if s.got > maxElements {
			return errorf(layer, "%s: got %d, want at most %d", s.name, s.got, maxElements)
		}
	}
	for _, p := range c.parameters() {
		n := 1
		for _, d := range p.Shape {
			if d > maxElements/n {
				return errorf(layer, "%s: shape %v, want at most %d elements", p.Name, p.Shape, maxElements)
			}
			n *= d
		}
	}
	return nil
}
