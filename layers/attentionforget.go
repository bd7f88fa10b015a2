package layers

import (
	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// logGates returns the logarithms of the keys' gates (…, S, H), or nil if the layer forgets nothing.
func (s *step) logGates() *G.Node {
	if !s.config.Forget {
		return nil
	}
	if s.in.Cache == nil {
		T, S := length(s.in.Query), length(s.in.Key)
		if first, err := s.offset(); err != nil {
			return s.Of(nil, err)
		} else if first != S-T {
			return s.Of(nil, config.Errorf(s.config, "Align", "got %q for %d queries and %d keys with %s, want queries that "+
				"are the last of the keys", s.config.Align, T, S, config.Field("Forget")))
		}
	}
	return s.Of(graph.LogSigmoid(s.linear(s.in.Key, s.forget, s.forgetBias, false)))
}
