package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"attention/cmd/attention/internal/view/forward"
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
