package generate

import (
	"slices"
	"strings"
)

// Stops ends a text that arrives in pieces before the first stop text. It holds back text that may be the beginning of
// a stop text.
type Stops struct {
	texts   []string
	held    string
	stopped bool
}

// NewStops returns the stops of one text. Empty stop texts are ignored.
func NewStops(texts ...string) *Stops {
	return &Stops{texts: slices.DeleteFunc(slices.Clone(texts), func(stop string) bool { return stop == "" })}
}

// Add takes the next piece of the text and returns the part that is certainly before every
// stop text. After a stop text it returns nothing.
func (s *Stops) Add(piece string) string {
	if s.stopped {
		return ""
	}
	s.held += piece
	end, keep := len(s.held), 0
	for _, stop := range s.texts {
		if i := strings.Index(s.held, stop); i >= 0 && i < end {
			end, s.stopped = i, true
		}
		for n := min(len(stop)-1, len(s.held)); n > keep; n-- {
			if strings.HasSuffix(s.held, stop[:n]) {
				keep = n
			}
		}
	}
	if !s.stopped {
		end -= keep
	}
	out := s.held[:end]
	s.held = s.held[end:]
	return out
}

// Stopped reports whether a stop text has occurred.
func (s *Stops) Stopped() bool { return s.stopped }

// Flush returns the held back end of a text that ended without a stop text.
func (s *Stops) Flush() string {
	if s.stopped {
		return ""
	}
	rest := s.held
	s.held = ""
	return rest
}
