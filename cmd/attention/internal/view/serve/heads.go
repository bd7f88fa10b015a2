package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"

	"attention/cmd/attention/internal/view/look"
)

// maxBody is the most bytes of a request: a text in JSON and its changes.
const maxBody = 8 * look.MaxText

// lookAnswer is what the page knows of a look before it draws a head.
type lookAnswer struct {
	ID        string             `json:"id"`
	Model     int                `json:"model"`
	Cut       int                `json:"cut"`
	Whole     string             `json:"whole"`
	Sequences []look.Sequence    `json:"sequences"`
	Layers    []*look.Layer      `json:"layers"`
	Next      [][]look.Candidate `json:"next"`
	Steps     int                `json:"steps"`
}

// look computes a look and describes it.
func (s *Server) look(r *http.Request) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("got more than %d bytes, want fewer", maxBody)
	}
	var want lookRequest
	if err := json.Unmarshal(body, &want); err != nil {
		return nil, err
	}
	id, got, err := s.looks.see(r.Context(), want)
	if err != nil {
		return nil, err
	}
	return describe(id, want.Model, got), nil
}

func describe(id string, model int, l *look.Look) lookAnswer {
	return lookAnswer{ID: id, Model: model, Cut: l.Cut, Whole: l.Whole, Sequences: l.Sequences, Layers: l.Layers,
		Next: l.Next, Steps: l.Model.Steps}
}

// head returns what the page computes the weights of a head from.
func (s *Server) head(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	defer s.turns.first()()
	return packHead(l, head)
}

func packHead(l *look.Layer, head int) (*pack, error) {
	summary, err := l.Summary(head)
	if err != nil {
		return nil, err
	}
	parts := l.Head(head)
	p := newPack(new(packed))
	addPacked(p, "q", parts.Query)
	addPacked(p, "k", parts.Key)
	addPacked(p, "rawQ", parts.RawQuery)
	addPacked(p, "rawK", parts.RawKey)
	addPacked(p, "vector", parts.Vector)
	addPacked(p, "bias", parts.Bias)
	addPacked(p, "lse", summary.LSE)
	addPacked(p, "start", parts.Shown.Start)
	addPacked(p, "keys", parts.Shown.Keys)
	return p, nil
}

// maxSide is the most rows and columns of an overview: those of a large screen.
const maxSide = 2048

// overviewAnswer describes an overview.
type overviewAnswer struct {
	Level int `json:"level"`
	Rows  int `json:"rows"`
	Cols  int `json:"cols"`
	packed
}

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
	p := newPack(&overviewAnswer{Level: o.Level, Rows: o.Rows, Cols: o.Cols})
	addPacked(p, "weights", o.Weights)
	return p, nil
}

// thumbnailsAnswer describes the thumbnails of a layer's heads.
type thumbnailsAnswer struct {
	Rows       int          `json:"rows"`
	Cols       int          `json:"cols"`
	Statistics []statistics `json:"statistics"`
	packed
}

// statistics are the finite statistics of a look.
type statistics struct {
	Entropy  *float64 `json:"entropy,omitempty"`
	First    *float64 `json:"first,omitempty"`
	Self     *float64 `json:"self,omitempty"`
	Previous *float64 `json:"previous,omitempty"`
	Largest  *float64 `json:"largest,omitempty"`
	Distance *float64 `json:"distance,omitempty"`
}

func statisticsOf(s look.Statistics) statistics {
	return statistics{finite(s.Entropy), finite(s.First), finite(s.Self), finite(s.Previous), finite(s.Largest),
		finite(s.Distance)}
}

// finite returns a number as JSON has it: nil for NaN and ∞.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// thumbnails returns the thumbnails and statistics of a layer's heads, after all heads that a reader waits for.
func (s *Server) thumbnails(r *http.Request) (any, error) {
	l, err := s.layerOf(r)
	if err != nil {
		return nil, err
	}
	for head := range l.Heads {
		if err := s.turns.last(r.Context()); err != nil {
			return nil, err
		}
		if _, err := l.Summary(head); err != nil {
			return nil, err
		}
	}
	return packThumbnails(l)
}

func packThumbnails(l *look.Layer) (*pack, error) {
	var all []float32
	answer := new(thumbnailsAnswer)
	for head := range l.Heads {
		s, err := l.Summary(head)
		if err != nil {
			return nil, err
		}
		answer.Rows, answer.Cols = s.Rows, s.Cols
		answer.Statistics = append(answer.Statistics, statisticsOf(s.Statistics))
		all = append(all, s.Thumbnail...)
	}
	p := newPack(answer)
	addPacked(p, "thumbnails", all)
	return p, nil
}

// valuesAnswer describes the values of a head.
type valuesAnswer struct {
	Sink *float64 `json:"sink,omitempty"`
	packed
}

// values returns the values of a head.
func (s *Server) values(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	return packValues(l, head)
}

func packValues(l *look.Layer, head int) (*pack, error) {
	values, sink := l.Values(head)
	answer := new(valuesAnswer)
	if !math.IsNaN(sink) {
		answer.Sink = &sink
	}
	p := newPack(answer)
	addPacked(p, "v", values)
	return p, nil
}
