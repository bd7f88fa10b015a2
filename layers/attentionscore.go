package layers

import (
	"fmt"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// ScoreGraph changes the scores of an attention by ops of a graph, in which parameters may take part: Of returns the
// changed scores of scores ([B,] H, T, S), in a build whose Node gives the parameters. A layer with one is composed of
// an op for each step, whose memory grows with T·S, and has neither a cache nor statistics. It has no JSON.
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

// scoreMod returns how the layer changes scores; nil if it does not.
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
