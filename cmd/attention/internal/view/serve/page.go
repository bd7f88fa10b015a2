package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"attention/cmd/attention/internal/view/forward"
)

// chosen is what a reader chose before the page is exported.
type chosen struct {
	State  string        `json:"state"`  // of the page, as in its URL after the #
	Passes []passRequest `json:"passes"` // that it needs; none for the models over their texts
}

// maxChosen is the most passes of a chosen page.
const maxChosen = 4

// page returns the page as one HTML file with the state that its reader chose.
func (s *Server) page(r *http.Request) (any, error) {
	want, err := decode[chosen](r)
	if err != nil {
		return nil, err
	}
	if n := len(want.Passes); n > maxChosen {
		return nil, fmt.Errorf("passes: got %d, want at most %d", n, maxChosen)
	}
	c := s.config
	c.chosen = want
	if len(c.Models) > 0 {
		c.Folder = nil // the page is that of a model
	}
	var file bytes.Buffer
	if _, err := Export(r.Context(), c, &file); err != nil {
		return nil, err
	}
	return bytesPacked(file.Bytes()), nil
}

// addChosen adds the passes that a reader chose.
func (e *export) addChosen(ctx context.Context) error {
	for _, request := range e.server.config.chosen.Passes {
		if e.answers[request.path()] != nil {
			continue
		}
		if _, err := e.addPass(ctx, request); err != nil {
			return err
		}
	}
	return nil
}

// section returns a section of the chapter.
func (s *Server) section(r *http.Request) (any, error) {
	if !s.config.Chapter {
		return nil, errors.New("section: got a request for one, want attention view --chapter")
	}
	query := r.URL.Query()
	text := query.Get("number")
	number, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("number: got %.20q, want 1 to %d", text, len(forward.Contents()))
	}
	if query.Has("sentence") {
		sentence := query.Get("sentence")
		return forward.NewSection(number, &sentence)
	}
	if s.config.Text != "" {
		return forward.NewSection(number, &s.config.Text)
	}
	return forward.NewSection(number, nil)
}
