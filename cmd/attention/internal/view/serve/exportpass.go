package serve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"attention/cmd/attention/internal/view/forward"
)

// addPass adds a pass: the thumbnails of all layers, the journeys, the heads in order of how telling they are, and
// their values.
func (e *export) addPass(ctx context.Context, request passRequest) (*forward.Pass, error) {
	s := e.server
	l, err := s.passes.see(ctx, request)
	if err != nil {
		return nil, err
	}
	if err := e.keep(request.path(), l); err != nil {
		return nil, err
	}
	for at := range l.Next {
		for tenth := range temperatures {
			if err := e.add(ctx, s.next, nextPath(l.ID, at, float64(tenth)/10), "temperatures of "+l.Name); err != nil {
				return nil, err
			}
		}
	}
	for i := range l.Layers {
		what := fmt.Sprintf("thumbnails of layer %d of %s", i, l.Name)
		if err := e.add(ctx, s.thumbnails, layerPath("thumbnails", l.ID, i), what); err != nil {
			return nil, err
		}
	}
	if err := e.add(ctx, s.tells, "tells?pass="+l.ID, "what heads of "+l.Name+" tell"); err != nil {
		return nil, err
	}
	all, err := e.inOrder(l)
	if err != nil {
		return nil, err
	}
	heads := func(answer handler, kind, what string, of []headOf) error {
		for _, h := range of {
			name := fmt.Sprintf("%slayer %d, head %d of %s", what, h.layer, h.head, l.Name)
			if err := e.add(ctx, answer, headPath(kind, l.ID, h.layer, h.head), name); err != nil {
				return err
			}
		}
		return nil
	}
	for i, of := range [][]headOf{all[:1], all[1:]} { // the initial head, its journey, and the others
		if err := heads(s.head, "head", "", of); err != nil {
			return nil, err
		}
		if err := heads(s.values, "values", "steps of ", of); err != nil { // which Steps needs
			return nil, err
		}
		if i == 0 {
			if err := e.addJourneys(ctx, l); err != nil {
				return nil, err
			}
		}
	}
	return l.Pass, nil
}

// headOf is a head of a layer.
type headOf struct{ layer, head int }

// inOrder returns all heads of a pass: first the chosen head, then the initial head of the page, then the others from
// the most telling on.
func (e *export) inOrder(l passAnswer) ([]headOf, error) {
	var all []headOf
	telling := map[headOf]float64{}
	for i, layer := range l.Layers {
		for head := range layer.Heads {
			s, err := layer.Summary(head)
			if err != nil {
				return nil, err
			}
			h := headOf{i, head}
			if telling[h] = -1; s.Statistics.Telling != nil {
				telling[h] = *s.Statistics.Telling
			}
			all = append(all, h)
		}
	}
	tells, err := l.Tells()
	if err != nil {
		return nil, err
	}
	if best := tells.Best; best != nil {
		telling[headOf{best[0], best[1]}] = 1 // initially
	}
	state, _ := url.ParseQuery(e.server.config.chosen.State) // there is no head for a wrong number
	layer, noLayer := strconv.Atoi(state.Get("layer"))
	head, noHead := strconv.Atoi(state.Get("head"))
	if chosen := (headOf{layer, head}); noLayer == nil && noHead == nil && slices.Contains(all, chosen) {
		telling[chosen] = math.Inf(1)
	}
	slices.SortStableFunc(all, func(a, b headOf) int { return cmp.Compare(telling[b], telling[a]) })
	return all, nil
}
