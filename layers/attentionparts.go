package layers

import (
	"errors"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// AttentionParts are what the weights of a call are computed from: of query t and key s in head h
//
//	softmax over s of scale·ScoreQuery[t, h]·ScoreKey[s, h], with the Settings' cap, bias and mask
type AttentionParts struct {
	Query, Key           *G.Node // as projected: (…, T, H·D), (…, S, K·D)
	ScoreQuery, ScoreKey *G.Node // normalised, turned by RoPE and with the extra keys: (…, T, H·D), (…, S+extra, K·D)
	Value                *G.Node // with those of the extra keys: (…, S+extra, K·Dv)
	Settings             graph.AttentionConfig
	Additive             *G.Node // v (1, A) of additive attention, whose score is v·tanh(ScoreQuery + ScoreKey); else nil
}

// Parts returns the queries, keys and values of the call and the settings of its scores. With the layout PerHead the
// heads' lie side by side, as in the others.
func (c *AttentionCall) Parts() (AttentionParts, error) {
	if c == nil || c.build == nil {
		return AttentionParts{}, errors.New("layers: attention call: got nil or its zero value, want one of Build.Calls")
	}
	if c.Input.Cache != nil {
		return AttentionParts{}, errorf(c.layer.name, "parts: got a cache, want none: it holds the keys and values")
	}
	s := newStep(c, true)
	p := s.parts()
	_, err := s.result(p.ScoreKey)
	return p, err
}

// parts returns the parts of the step, with heads of their own or without.
func (s *step) parts() (p AttentionParts) {
	if s.heads == nil {
		q, k, v := s.project()
		p.Query, p.Key, p.Value = q, k, s.extend(v, s.valueRow)
		p.ScoreQuery, p.ScoreKey = s.prepare(q, k)
		p.Settings = s.settings()
		return p
	}
	of := make([]G.Nodes, 5)
	for _, head := range s.heads {
		h := *s
		h.Attention = head
		p = h.parts()
		for i, n := range []*G.Node{p.Query, p.Key, p.Value, p.ScoreQuery, p.ScoreKey} {
			of[i] = append(of[i], n)
		}
	}
	for i, n := range []**G.Node{&p.Query, &p.Key, &p.Value, &p.ScoreQuery, &p.ScoreKey} {
		*n = s.Of(graph.Concat(of[i]...))
	}
	p.Settings.Heads, p.Settings.KVHeads = len(s.heads), len(s.heads)
	return p
}
