package look

import "math"

// HeadParts are what the weights of one head are computed from. Queries and keys have rows of the layer's Width.
type HeadParts struct {
	Query, Key       []float32 // of the scores
	RawQuery, RawKey []float32 // before they were normalised or turned; nil if they were not
	Vector           []float32 // of additive scores
	Bias             []float32 // (T+S−1), the element of query t and key s is t − s + S−1; nil if there is none
	Shown            Runs
}

// Head returns the parts of a head.
func (l *Layer) Head(head int) HeadParts {
	of := head * l.KeyHeads / l.Heads
	h := HeadParts{Query: l.columns(l.q, l.Heads, head), Key: l.columns(l.k, l.KeyHeads, of), Vector: l.vector,
		Shown: l.shown, RawQuery: l.columns(l.rawQ, l.Heads, head), RawKey: l.columns(l.rawK, l.KeyHeads, of)}
	if n := l.T + l.S - 1; l.bias != nil {
		h.Bias = l.bias[head*n%len(l.bias):][:n]
	}
	return h
}

// Values returns the values (S, Dv) of a head, and its sink, a score without a key; NaN if it has none.
func (l *Layer) Values(head int) (values []float32, sink float64) {
	width := len(l.v) / (l.S * l.KeyHeads)
	for at := head * l.KeyHeads / l.Heads * width; at < len(l.v); at += l.KeyHeads * width {
		values = append(values, l.v[at:at+width]...)
	}
	if l.sinks == nil {
		return values, math.NaN()
	}
	return values, float64(l.sinks[head])
}

// columns returns the columns of one of some heads; nil of nil.
func (l *Layer) columns(all []float32, heads, head int) (out []float32) {
	for row := head * l.Width; row < len(all); row += heads * l.Width {
		out = append(out, all[row:row+l.Width]...)
	}
	return out
}
