package serve

import (
	"errors"
	"fmt"
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
	if query.Has("sentence") {
		sentence := query.Get("sentence")
		return look.NewSection(number, &sentence)
	}
	if s.config.Text != "" {
		return look.NewSection(number, &s.config.Text)
	}
	return look.NewSection(number, nil)
}
