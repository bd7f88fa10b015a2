package generate

import (
	"fmt"
	"io"
	"strings"
	"time"

	"attention/layers/generate"
	"attention/train/text"
)

// continuation writes what a model adds to a text, character by character.
type continuation struct {
	decoder *text.Decoder
	stop    stopper
	out     io.Writer
	ids     []int // of the prompt and of what was added
}

// add adds a token and prints the characters that it completes.
func (w *continuation) add(id int) error {
	w.ids = append(w.ids, id)
	text, err := w.decoder.Decode(id)
	if err != nil {
		return err
	}
	return w.print(w.stop.add(text))
}

// end prints the text held back, unless a stop text ended it.
func (w *continuation) end() error {
	return w.print(w.stop.add(w.decoder.Flush()) + w.stop.rest())
}

func (w *continuation) print(text string) error {
	if text == "" {
		return nil
	}
	if _, err := io.WriteString(w.out, text); err != nil {
		return fmt.Errorf("generate: printing: %w", err)
	}
	return nil
}

// stopper holds back the text from where a stop text may begin.
type stopper struct {
	stops   []string
	held    string
	stopped bool
}

// add takes the next piece of the text and returns the part that is certainly before every
// stop text. After a stop text it returns nothing.
func (s *stopper) add(piece string) string {
	if s.stopped {
		return ""
	}
	s.held += piece
	end, keep := len(s.held), 0
	for _, stop := range s.stops {
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

// rest returns the held back end of a text that ended without a stop text.
func (s *stopper) rest() string {
	if s.stopped {
		return ""
	}
	rest := s.held
	s.held = ""
	return rest
}

// stats holds the numbers that --stats prints.
type stats struct {
	loading, reading, writing time.Duration
	prompt, tokens            int
	memory                    generate.Memory
}

func (s *stats) print(w io.Writer) {
	fmt.Fprintf(w, "model:  loaded in %.2f s\n", s.loading.Seconds())
	fmt.Fprintf(w, "prompt: %s\n", perSecond(s.prompt, s.reading))
	fmt.Fprintf(w, "text:   %s\n", perSecond(s.tokens, s.writing))
	const mega = 1e6
	fmt.Fprintf(w, "memory: weights %.1f MB, cache %.1f MB, graphs %.1f MB\n",
		float64(s.memory.Weights)/mega, float64(s.memory.Cache)/mega, float64(s.memory.Graphs)/mega)
}

func perSecond(n int, d time.Duration) string {
	return fmt.Sprintf("%d tokens in %.2f s, %.1f tokens/s", n, d.Seconds(), float64(n)/max(d.Seconds(), 1e-9))
}
