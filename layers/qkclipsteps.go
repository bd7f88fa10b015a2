package layers

import (
	"math"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// QKClip clips attentions after every step of training, as Attention.ClipQK does. Of a LatentAttention it scales the
// plain queries and keys by √γ and the rotary queries by γ: the rotary key belongs to all heads.
type QKClip struct {
	threshold float64
	layers    []*clippedLayer
}

// ClippedHead is what QK-clip did to a head.
type ClippedHead struct {
	Path    string  // of the layer
	Head    int     // from 0
	Largest float64 // scale·q·k over the batches of the step; −∞ if no query saw a key
	Gamma   float64 // the factor of the products; 1 means that they were not scaled
}

// clippedLayer is one layer, which may have several calls.
type clippedLayer struct {
	layer   *Attention
	path    string
	largest []float64 // of each head, over the step so far
	last    []ClippedHead
}

// NewQKClip makes the steps of a build clip the attentions that Calls returns for a pattern.
// S_max is the largest product over all calls and batches of a step, before its update; the
// clip follows the update. It comes from the statistics of the calls, which cost another
// forward of the attentions that are not observed.
func NewQKClip(b *Build, pattern string, threshold float64) (*QKClip, error) {
	if err := checkBuild(b); err != nil {
		return nil, err
	}
	c := &QKClip{threshold: threshold}
	var nodes G.Nodes
	var of []*clippedLayer // of each node
	for _, call := range b.Calls(pattern) {
		if err := call.layer.checkClip(threshold); err != nil {
			return nil, err
		}
		s, err := call.Stats()
		if err != nil {
			return nil, err
		}
		nodes, of = append(nodes, s.MaxProduct), append(of, c.of(call))
	}
	if len(nodes) == 0 {
		return nil, errorf("clip", "got the pattern %q, want one that matches an attention called so far", pattern)
	}
	var largest [][]float64
	for _, l := range c.layers {
		largest = append(largest, l.largest)
	}
	b.OnStep(StepHook{
		Nodes:   nodes,
		Largest: largest,
		Batch: func(values []*tensor.Dense) error {
			for i, v := range values {
				if err := of[i].raise(v); err != nil {
					return err
				}
			}
			return nil
		},
		Step: c.clip,
	})
	return c, b.Err()
}

// Last returns what the last step did, head by head; nothing before the first.
func (c *QKClip) Last() []ClippedHead {
	var all []ClippedHead
	for _, l := range c.layers {
		all = append(all, l.last...)
	}
	return all
}

// of returns the entry of a call's layer.
func (c *QKClip) of(call *AttentionCall) *clippedLayer {
	for _, l := range c.layers {
		if l.layer == call.layer {
			return l
		}
	}
	heads, _, _ := call.layer.config.softmaxes()
	l := &clippedLayer{layer: call.layer, path: call.Path, largest: make([]float64, heads)}
	l.reset()
	c.layers = append(c.layers, l)
	return l
}

// reset begins a step.
func (l *clippedLayer) reset() {
	for h := range l.largest {
		l.largest[h] = math.Inf(-1)
	}
}

// raise takes the largest of products (…, H, T).
func (l *clippedLayer) raise(products *tensor.Dense) error {
	H, T := len(l.largest), products.Shape()[products.Dims()-1]
	for i, x := range dense.Float64s(products) {
		h := i / T % H
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return errorf(l.layer.name, "clip: got %v as a product of head %d, want a finite number", x, h)
		}
		l.largest[h] = max(l.largest[h], x)
	}
	return nil
}

// clip clips all layers by the products of the step and begins the next.
func (c *QKClip) clip() error {
	for _, l := range c.layers {
		gamma, err := l.layer.ClipQK(l.largest, c.threshold)
		if err != nil {
			return err
		}
		l.last = l.last[:0]
		for h, g := range gamma {
			l.last = append(l.last, ClippedHead{Path: l.path, Head: h, Largest: l.largest[h], Gamma: g})
		}
		l.reset()
	}
	return nil
}
