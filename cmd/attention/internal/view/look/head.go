package look

import G "gorgonia.org/gorgonia"

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
	p, of := l.kept, l.keyHead(head)
	h := HeadParts{Query: columns(p.Query, l.Heads, head), Key: columns(p.Key, l.KeyHeads, of), Vector: float32sOf(p.Additive),
		Shown: l.shown}
	if l.Turned {
		h.RawQuery, h.RawKey = columns(p.ProjectedQuery, l.Heads, head), columns(p.ProjectedKey, l.KeyHeads, of)
	}
	if n, bias := l.T+l.S-1, float32sOf(p.Config.RelativeBias); bias != nil {
		h.Bias = bias[head*n%len(bias):][:n]
	}
	return h
}

// Values returns the values (S, Dv) of a head, and its sink, a score without a key; nil if it has none.
func (l *Layer) Values(head int) (values []float32, sink *float64) {
	if l.Sinks {
		score := float64(float32sOf(l.kept.Config.Sinks)[head])
		sink = &score
	}
	return columns(l.kept.Value, l.KeyHeads, l.keyHead(head)), sink
}

// keyHead returns the head of the keys and values that a head of the queries meets.
func (l *Layer) keyHead(head int) int { return head * l.KeyHeads / l.Heads }

// columns returns the columns of one of some heads that lie side by side.
func columns(n *G.Node, heads, head int) (out []float32) {
	all, row := float32sOf(n), n.Shape()[1]
	width := row / heads
	for at := head * width; at < len(all); at += row {
		out = append(out, all[at:at+width]...)
	}
	return out
}
