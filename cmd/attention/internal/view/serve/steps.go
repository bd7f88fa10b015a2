package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"attention/cmd/attention/internal/view/look"
)

// section returns a section of the chapter.
func (s *Server) section(r *http.Request) (any, error) {
	if !s.config.Chapter {
		return nil, errors.New("section: got a request for one, want attention view --chapter")
	}
	query := r.URL.Query()
	text := query.Get("number")
	number, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("number: got %.20q, want 1 to %d", text, len(look.Contents()))
	}
	sentence := s.config.Sentence
	if query.Has("sentence") {
		own := query.Get("sentence")
		sentence = &own
	}
	return look.NewSection(number, sentence)
}

// addChapter adds the sections.
func (e *export) addChapter(s *Server) error {
	for i := range look.Contents() {
		section, err := look.NewSection(i+1, s.config.Sentence)
		if err != nil {
			return err
		}
		e.answers[fmt.Sprintf("section?number=%d", i+1)] = section
	}
	return nil
}

// values returns the values of a head.
func (s *Server) values(r *http.Request) (any, error) {
	l, head, err := s.headOf(r)
	if err != nil {
		return nil, err
	}
	return packValues(l, head), nil
}

func packValues(l *look.Layer, head int) *pack {
	values, sink := l.Values(head)
	p := newPack(map[string]any{})
	if !math.IsNaN(sink) {
		p.header["sink"] = sink
	}
	addPacked(p, "v", values)
	return p
}

// addValues adds the values of a look's heads, of which Steps is made.
func (e *export) addValues(ctx context.Context, id string, l *look.Look) error {
	for i, layer := range l.Layers {
		for head := range layer.Heads {
			if err := ctx.Err(); err != nil {
				return err
			}
			path := fmt.Sprintf("values?look=%s&layer=%d&head=%d", id, i, head)
			what := fmt.Sprintf("steps of layer %d, head %d of %s", i, head, l.Model.Name)
			if err := e.add(path, what, packValues(layer, head)); err != nil {
				return err
			}
		}
	}
	return nil
}
