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

// look computes a look and describes it.
func (s *Server) look(r *http.Request) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("got more than %d bytes, want fewer", maxBody)
	}
	var want lookRequest
	if err == nil {
		err = json.Unmarshal(body, &want)
	}
	if err != nil {
		return nil, err
	}
	id, got, err := s.looks.see(r.Context(), want)
	if err != nil {
		return nil, err
	}
	return describe(id, want.Model, got), nil
}

// describe returns what the page knows of a look before it draws a head.
func describe(id string, model int, l *look.Look) map[string]any {
	return map[string]any{"id": id, "model": model, "cut": l.Cut, "whole": l.Whole, "sequences": l.Sequences,
		"layers": l.Layers, "next": l.Next, "steps": l.Model.Steps}
}

// layerOf returns the layer of a request.
func (s *Server) layerOf(r *http.Request) (*look.Layer, error) {
	l, err := s.looks.get(r.URL.Query().Get("look"))
	if err != nil {
		return nil, err
	}
	n, err := number(r, "layer", len(l.Layers))
	if err != nil {
		return nil, err
	}
	return l.Layers[n], nil
}

// headOf returns the layer and the head of a request.
func (s *Server) headOf(r *http.Request) (l *look.Layer, head int, err error) {
	if l, err = s.layerOf(r); err == nil {
		head, err = number(r, "head", l.Heads)
	}
	return l, head, err
}

// head returns what the page computes a head's weights from.
func (s *Server) head(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	s.waited.RLock()
	defer s.waited.RUnlock()
	return packHead(l, head), nil
}

// maxSide is the most rows and columns of an overview: those of a large screen.
const maxSide = 2048

// overview returns a head's weights as one sees them whole, with at most side rows and columns.
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
	s.waited.RLock()
	defer s.waited.RUnlock()
	o := l.Overview(head, side)
	p := newPack(map[string]any{"level": o.Level, "rows": o.Rows, "cols": o.Cols})
	addPacked(p, "weights", o.Weights)
	return p, nil
}

// packHead packs a head.
func packHead(l *look.Layer, head int) *pack {
	parts := l.Head(head)
	p := newPack(map[string]any{})
	addPacked(p, "q", parts.Query)
	addPacked(p, "k", parts.Key)
	addPacked(p, "rawQ", parts.RawQuery)
	addPacked(p, "rawK", parts.RawKey)
	addPacked(p, "vector", parts.Vector)
	addPacked(p, "bias", parts.Bias)
	addPacked(p, "lse", l.Summary(head).LSE)
	addPacked(p, "start", parts.Shown.Start)
	addPacked(p, "keys", parts.Shown.Keys)
	return p
}

// thumbnails returns the thumbnails and statistics of a layer's heads.
func (s *Server) thumbnails(r *http.Request) (any, error) {
	l, err := s.layerOf(r)
	if err != nil {
		return nil, err
	}
	for head := range l.Heads {
		s.waited.Lock() // after heads that somebody waits for
		s.waited.Unlock()
		l.Summary(head)
	}
	return packThumbnails(l), nil
}

func packThumbnails(l *look.Layer) *pack {
	var all []float32
	var statistics []map[string]any
	p := newPack(map[string]any{})
	for head := range l.Heads {
		s := l.Summary(head)
		p.header["rows"], p.header["cols"] = s.Rows, s.Cols
		all = append(all, s.Thumbnail...)
		statistics = append(statistics, statisticsOf(s.Statistics))
	}
	p.header["statistics"] = statistics
	addPacked(p, "thumbnails", all)
	return p
}

// statisticsOf returns statistics as JSON, in which there is no NaN.
func statisticsOf(s look.Statistics) map[string]any {
	all := map[string]any{}
	for name, v := range map[string]float64{"entropy": s.Entropy, "first": s.First, "self": s.Self,
		"previous": s.Previous, "largest": s.Largest, "distance": s.Distance} {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			all[name] = v
		}
	}
	return all
}
