package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"attention/cmd/attention/internal/view/forward"
)

// journey returns a token's way through the model and one of its layers.
func (s *Server) journey(r *http.Request) (any, error) {
	l, err := s.passes.get(r.URL.Query().Get("pass"))
	if err != nil {
		return nil, err
	}
	layer, err := number(r, "layer", len(l.Layers))
	if err != nil {
		return nil, err
	}
	token, err := number(r, "token", len(l.Sequences[0].Tokens))
	if err != nil {
		return nil, err
	}
	defer s.turns.first()()
	j, err := l.Journey(r.Context(), layer, token)
	if errors.Is(err, forward.ErrForgotten) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	var values []float32
	for _, step := range j.Steps {
		values = append(values, step.Values...)
	}
	p := &pack{About: j}
	add(p, "values", values)
	return p, nil
}

// mostWays is the most bytes of the journeys of an exported page.
const mostWays = 11 << 18

// addJourneys adds the journeys of a pass's tokens through all layers: that of the chosen token, and as many others as
// fit, from the last token backwards.
func (e *export) addJourneys(ctx context.Context, l passAnswer) error {
	if len(l.Sequences) > 1 || len(l.Next) == 0 {
		return nil // there is none
	}
	n := len(l.Sequences[0].Tokens)
	tokens := make([]int, 0, n+1)
	state, _ := url.ParseQuery(e.server.config.chosen.State) // there is no q for a wrong number
	if q, err := strconv.Atoi(state.Get("q")); err == nil && q >= 0 && q < n {
		tokens = append(tokens, q)
	}
	for i := range n {
		if token := n - 1 - i; !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	for _, token := range tokens {
		before, left := e.size, len(e.left)
		for layer := range l.Layers {
			if err := e.add(ctx, e.server.journey, journeyPath(l.ID, layer, token), "journeys of "+l.Name); err != nil {
				return err
			}
		}
		each := e.size - before
		if e.ways += each; e.ways+each > mostWays || len(e.left) > left { // the others would not fit
			return nil
		}
	}
	return nil
}
