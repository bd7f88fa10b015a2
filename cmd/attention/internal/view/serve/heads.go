package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"attention/cmd/attention/internal/view/forward"
)

// maxBody is the largest size of a request in bytes: a text in JSON, and changes of the model.
const maxBody = 8 * forward.MaxText

// forward computes a pass and describes it.
func (s *Server) forward(r *http.Request) (any, error) {
	want, err := decode[passRequest](r)
	if err != nil {
		return nil, err
	}
	return s.passes.see(r.Context(), want)
}

// decode reads the JSON of a request's body.
func decode[T any](r *http.Request) (want T, err error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return want, err
	}
	if len(body) > maxBody {
		return want, fmt.Errorf("got more than %d bytes, want fewer", maxBody)
	}
	return want, json.Unmarshal(body, &want)
}

// head returns the numbers from which the page computes the weights of a head.
func (s *Server) head(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	defer s.turns.first()()
	if l.Linear {
		return implied(l, head)
	}
	summary, err := l.Summary(head)
	if err != nil {
		return nil, err
	}
	of, shown, err := l.Head(head)
	if err != nil {
		return nil, err
	}
	p := new(pack)
	add(p, "q", of.Query)
	add(p, "k", of.Key)
	add(p, "rawQ", of.ProjectedQuery)
	add(p, "rawK", of.ProjectedKey)
	add(p, "vector", of.Additive)
	add(p, "bias", of.Bias)
	add(p, "logGates", of.LogGates)
	add(p, "lse", summary.LSE)
	add(p, "most", summary.Most)
	add(p, "start", shown.Start)
	add(p, "keys", shown.Keys)
	return p, nil
}

// implied returns the weights that the state of a head implies.
func implied(l *forward.Layer, head int) (*pack, error) {
	weights, most, norms, err := l.Implied(head)
	p := new(pack)
	add(p, "weights", weights)
	add(p, "most", most)
	add(p, "norms", norms)
	return p, err
}

// maxSide is the maximum number of rows and columns of an overview, for a large screen.
const maxSide = 2048

// overview returns the weights of a head at the scale of a screen, with at most side rows and columns.
func (s *Server) overview(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	side, err := number(r, "side", maxSide+1)
	if err != nil {
		return nil, err
	}
	if side == 0 {
		return nil, fmt.Errorf("side: got 0, want 1 to %d", maxSide)
	}
	defer s.turns.first()()
	o, err := l.Overview(head, side)
	if err != nil {
		return nil, err
	}
	p := &pack{About: o}
	add(p, "weights", o.Weights)
	return p, nil
}

// thumbnailsAnswer describes the thumbnails of a layer's heads.
type thumbnailsAnswer struct {
	Rows       int                  `json:"rows"`
	Cols       int                  `json:"cols"`
	Statistics []forward.Statistics `json:"statistics"`
}

// thumbnails returns the thumbnails and statistics of a layer's heads. Requests of heads that a reader waits for are
// computed first.
func (s *Server) thumbnails(r *http.Request) (any, error) {
	l, err := s.layerOf(r)
	if err != nil {
		return nil, err
	}
	var all []float32
	answer := new(thumbnailsAnswer)
	for head := range l.Heads {
		if err := s.turns.last(r.Context()); err != nil {
			return nil, err
		}
		h, err := l.Summary(head)
		if err != nil {
			return nil, err
		}
		answer.Rows, answer.Cols = h.Rows, h.Cols
		answer.Statistics = append(answer.Statistics, h.Statistics)
		all = append(all, h.Thumbnail...)
	}
	p := &pack{About: answer}
	add(p, "thumbnails", all)
	return p, nil
}

// tells returns how telling each head is on each token. Requests of heads that a reader waits for are computed first.
func (s *Server) tells(r *http.Request) (any, error) {
	pass, err := s.passes.get(r.URL.Query().Get("pass"))
	if err != nil {
		return nil, err
	}
	for _, l := range pass.Layers {
		for head := range l.Heads {
			if err := s.turns.last(r.Context()); err != nil {
				return nil, err
			}
			if _, err := l.Summary(head); err != nil {
				return nil, err
			}
		}
	}
	t, err := pass.Tells()
	if err != nil {
		return nil, err
	}
	p := &pack{About: t}
	add(p, "tells", t.Tells)
	return p, nil
}

// valuesAnswer describes the values of a head.
type valuesAnswer struct {
	Sink *float64 `json:"sink,omitempty"`
}

// values returns the values of a head.
func (s *Server) values(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	if l.Linear {
		return new(pack), nil // the layer has no other values than its weights
	}
	of, _, err := l.Head(head)
	if err != nil {
		return nil, err
	}
	p := &pack{About: valuesAnswer{of.Sink}}
	add(p, "v", of.Value)
	return p, nil
}

// next returns the likely next tokens at a position of a pass, at a temperature, and a token drawn by a number. Without
// a number the drawn token is 0.
func (s *Server) next(r *http.Request) (any, error) {
	query := r.URL.Query()
	l, err := s.passes.get(query.Get("pass"))
	if err != nil {
		return nil, err
	}
	at, err := number(r, "at", len(l.Next))
	if err != nil {
		return nil, err
	}
	temperature, err := strconv.ParseFloat(query.Get("temperature"), 64)
	if err != nil {
		return nil, fmt.Errorf("temperature: got %.20q, want a number", query.Get("temperature"))
	}
	draw := 0.0
	if query.Has("draw") {
		if draw, err = strconv.ParseFloat(query.Get("draw"), 64); err != nil {
			return nil, fmt.Errorf("draw: got %.20q, want a number", query.Get("draw"))
		}
	}
	next, err := l.NextAt(at, temperature, draw)
	return &pack{About: next}, err
}
