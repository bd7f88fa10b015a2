package layers

import (
	"math"
	"slices"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// ClipQK rescales the queries and keys of heads whose scores have grown too large (QK-clip
// of MuonClip; Kimi Team 2025, "Kimi K2: Open Agentic Intelligence", algorithm 1). largest
// (H) is each head's S_max, the largest scale·q·k over the batch of a step, which
// graph.AttentionStats has as MaxProduct; threshold is τ, in the same unit (K2's is 100):
//
//	γ = min(1, τ/S_max)
//	W_q ← √γ·W_q,  W_k ← √γ·W_k    of the head, and their biases
//
// so that the largest product becomes τ. Where query heads share a key head (K < H), keys
// do not change and W_q ← γ·W_q. bias_k, the key that AddBiasKV adds, goes with W_k.
// It returns each head's γ. It takes no part in gradients: it is called between two steps, or
// by the steps of a Build with a QKClip.
//
// A layer with QKNorm is refused, since a norm undoes any scale, as is a frozen projection.
// After an error nothing has changed.
func (l *Attention) ClipQK(largest []float64, threshold float64) (gamma []float64, err error) {
	if err := l.checkClip(threshold); err != nil {
		return nil, err
	}
	heads, _, _ := l.config.softmaxes()
	if len(largest) != heads {
		return nil, errorf(l.name, "clip: got the largest products of %d heads, want %d", len(largest), heads)
	}
	gamma = make([]float64, heads)
	for h, s := range largest {
		if math.IsNaN(s) || math.IsInf(s, 1) {
			return nil, errorf(l.name, "clip: got %v as the largest product of head %d, want a finite number", s, h)
		}
		if gamma[h] = 1; s > threshold {
			gamma[h] = threshold / s
		}
	}
	for h, g := range gamma {
		l.scaleHead(h, g)
	}
	return gamma, nil
}

// checkClip refuses what cannot be clipped.
func (l *Attention) checkClip(threshold float64) error {
	if !(threshold > 0) || math.IsInf(threshold, 0) {
		return errorf(l.name, "clip: got a threshold of %v, want a finite number above 0", threshold)
	}
	if l.config.QKNorm != "" {
		return errorf(l.name, "clip: got a layer with QKNorm %q, which undoes any scale, want one without",
			l.config.QKNorm)
	}
	for _, x := range l.clipped() {
		if p := x.param; p.Value() == nil || p.params.Frozen(p.name) {
			return errorf(l.name, "clip: got %s frozen or without a value, want it trained", p.name)
		}
	}
	return nil
}

// scaleHead scales queries, and keys unless they are shared, of a head by γ in all.
func (l *Attention) scaleHead(h int, gamma float64) {
	if gamma == 1 {
		return
	}
	if l.heads != nil {
		l.heads[h].scaleHead(0, gamma)
		return
	}
	if p := l.latent; p != nil { // the rotary key belongs to all heads: the rotary queries take all of γ
		q, up, at := l.clipped()[0], l.clipped()[1], h*(p.nope+p.rope)
		q.scale(at, p.nope, math.Sqrt(gamma))
		q.scale(at+p.nope, p.rope, gamma)
		up.scale(h*(p.nope+p.value), p.nope, math.Sqrt(gamma))
		return
	}
	_, _, D := l.config.softmaxes()
	each := gamma
	if !l.sharesKeys() {
		each = math.Sqrt(gamma)
	}
	for _, x := range l.clipped() {
		x.scale(h*D, D, each)
	}
}

// sharesKeys reports whether several query heads share a key head.
func (l *Attention) sharesKeys() bool { return l.config.NumKVHeads < l.config.NumHeads }

// outputs are the outputs of a projection from column from on; D of them belong to a head.
type outputs struct {
	param Param
	from  int
	last  bool // whether the outputs are the last axis, not the first
}

// clipped returns the projections that ClipQK scales.
func (l *Attention) clipped() []outputs {
	if p := l.latent; p != nil {
		return []outputs{{param: p.query.weight}, {param: p.up.weight}}
	}
	transposed, keys := l.layout.transposed, l.config.queryWidth()
	all := []outputs{{l.qkvWeights[0], 0, transposed}, {l.qkvBiases[0], 0, true},
		{l.packedWeight, 0, transposed}, {l.packedBias, 0, true}}
	if !l.sharesKeys() {
		all = append(all, outputs{l.qkvWeights[1], 0, transposed}, outputs{l.qkvBiases[1], 0, true},
			outputs{l.packedWeight, keys, transposed}, outputs{l.packedBias, keys, true}, outputs{l.keyRow, 0, true})
	}
	all = slices.DeleteFunc(all, func(o outputs) bool { return o.param == Param{} })
	for _, head := range l.heads {
		all = append(all, head.clipped()...)
	}
	return all
}

// scale multiplies n outputs from first on.
func (o outputs) scale(first, n int, by float64) {
	v := o.param.Value()
	shape := v.Shape()
	width := shape.TotalSize() / shape[0] // elements of an output
	rows, step, at := 1, 0, (o.from+first)*width
	size := n * width
	if o.last {
		step = shape[len(shape)-1]
		rows, at, size = shape.TotalSize()/step, o.from+first, n
	}
	for r := range rows {
		dense.ByType(v.Dtype(), scalePart[float32], scalePart[float64])(v, at+r*step, size, by)
	}
}

// scalePart multiplies n elements of v from at on.
func scalePart[F float32 | float64](v *tensor.Dense, at, n int, by float64) {
	part := dense.Floats[F](v)[at:][:n]
	for i := range part {
		part[i] *= F(by)
	}
}
