package chapter

import (
	"fmt"

	"attention/cmd/attention/internal/diagram"
	"attention/layers/chapter"
)

// layerGraph returns the expression graph of a section's layer on its tokens, one op for each step of attention.
func layerGraph(s chapter.Section) (diagram.Diagram, error) {
	b, out, err := s.Graph()
	if err != nil {
		return diagram.Diagram{}, err
	}
	title := fmt.Sprintf("%d. The expression graph of %s", s.Number, s.Layer().Layer)
	return diagram.Of(title, out, b.Learnables()), nil
}
