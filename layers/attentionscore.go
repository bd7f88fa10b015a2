package layers

import (
	"fmt"
	"math"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
)

// ScoreGraph changes the scores of an attention by ops of a graph, which may use parameters: Of returns the changed
// scores for scores ([B,] H, T, S), in a build whose Node gives the parameters. A layer with a ScoreGraph is composed
// of one op per step, whose memory grows with T·S, and supports neither a cache nor statistics. It has no JSON.
type ScoreGraph struct {
	Name string // in errors
	Of   func(b *Build, scores *G.Node) (*G.Node, error)
}

// String returns the type and the name.
func (m ScoreGraph) String() string { return fmt.Sprintf("ScoreGraph %q", m.Name) }

// MarshalJSON fails: it is a function.
func (m ScoreGraph) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("got %v, which has no JSON, want none", m)
}

// scoreMod returns the layer's change of scores; nil if there is none.
func (s *step) scoreMod() graph.ScoreMod {
	switch c := s.config; {
	case c.ScoreGraph != nil:
		return graph.ScoreGraph{Name: c.ScoreGraph.Name, Of: func(scores *G.Node) (*G.Node, error) {
			return c.ScoreGraph.Of(s.b, scores)
		}}
	case c.Score == nil:
		return nil
	}
	return *s.config.Score
}

// validateScore checks the functions of scores, and the bias of their sigmoids.
func (c AttentionConfig) validateScore() error {
	switch {
	case c.SigmoidBias > 0 || math.IsNaN(c.SigmoidBias) || math.IsInf(c.SigmoidBias, 0):
		return config.Errorf(c, "SigmoidBias", "got %v, want a finite number below 0, or 0", c.SigmoidBias)
	case c.Score != nil:
		return config.In(c, "Score", c.Score.Validate())
	case c.ScoreGraph != nil && c.ScoreGraph.Of == nil:
		return config.Errorf(c, "ScoreGraph", "got %v without Of, want a function", c.ScoreGraph)
	}
	return nil
}

// newForget makes the parameters of the keys' gates; nil without Forget.
func newForget(m *maker, c AttentionConfig) *Linear {
	if !c.Forget {
		return nil
	}
	return &Linear{weight: m.weight("fgate_proj.weight", linearWeight(c.KDim), layouts[Book], c.NumHeads, c.KDim),
		bias: m.param("fgate_proj.bias", Constant(0), c.NumHeads)}
}

// logGates returns the logarithms of the keys' gates (…, S, H), or nil without Forget.
func (s *step) logGates() *G.Node {
	if s.forget == nil {
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
	return s.Of(graph.LogSigmoid(s.forget.apply(s.formula, s.in.Key)))
}
