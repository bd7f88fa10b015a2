package graph

import (
	"fmt"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// keep shows the keys where an input, laid out as At says, is 1.
type keep struct {
	Input int
	At    kernel.BiasLayout
}

func (r keep) bind(in []*tensor.Dense, at place) (keySet, error) {
	k := &keepKeys{at: r.At, place: at}
	var err error
	switch x := in[r.Input]; x.Dtype() {
	case tensor.Float32:
		k.shown, err = zeroOne(floats[float32](x))
	case tensor.Float64:
		k.shown, err = zeroOne(floats[float64](x))
	default:
		k.shown, err = zeroOne(ints(x))
	}
	if err != nil {
		return nil, err
	}
	k.findSpans()
	return k, nil
}

func zeroOne[N float32 | float64 | int64](data []N) ([]bool, error) {
	shown := make([]bool, len(data))
	for i, v := range data {
		if v != 0 && v != 1 {
			return nil, fmt.Errorf("keep: got %v at element %d, want 0 or 1", v, i)
		}
		shown[i] = v == 1
	}
	return shown, nil
}

type keepKeys struct {
	at    kernel.BiasLayout
	place place
	shown []bool
	spans []keepSpan // of every batch and query that differ
}

type keepSpan struct {
	lo, hi int
	all    bool
}

// findSpans finds the first and the last key that each query sees in any head.
func (k *keepKeys) findSpans() {
	p := k.place
	if k.at.Batch == 0 {
		p.B = 1
	}
	if k.at.Query == 0 {
		p.T = 1
	}
	if k.at.Head == 0 {
		p.H = 1
	}
	keys := p.S
	if k.at.Key == 0 {
		keys = 1 // for all
	}
	k.spans = make([]keepSpan, p.B*p.T)
	for i := range k.spans {
		b, t, n := i/p.T, i%p.T, 0
		s := keepSpan{lo: keys}
		for h := range p.H {
			for key := range keys {
				if k.shows(b, h, t, key) {
					s.lo, s.hi = min(s.lo, key), max(s.hi, key+1)
					n++
				}
			}
		}
		s.lo = min(s.lo, s.hi)
		s.all = n == (s.hi-s.lo)*p.H
		if k.at.Key == 0 && s.hi > 0 {
			s.hi = p.S
		}
		k.spans[i] = s
	}
	k.place = p
}

func (k *keepKeys) shows(b, h, t, s int) bool {
	return k.shown[b*k.at.Batch+h*k.at.Head+t*k.at.Query+s*k.at.Key]
}

func (k *keepKeys) span(b, t int) (lo, hi int, all bool) {
	if k.at.Batch == 0 {
		b = 0
	}
	if k.at.Query == 0 {
		t = 0
	}
	s := &k.spans[b*k.place.T+t]
	return s.lo, s.hi, s.all
}

func (k *keepKeys) fill(b, h, t, s0 int, shown []bool) {
	for i := range shown {
		shown[i] = k.shows(b, h, t, s0+i)
	}
}
