package generate

import (
	"fmt"
	"io"
	"time"

	"attention/layers/generate"
	"attention/train/text"
)

// continuation writes what a model adds to a text, character by character.
type continuation struct {
	decoder *text.Decoder
	stop    *generate.Stops
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
	return w.print(w.stop.Add(text))
}

// end prints the text held back, unless a stop text ended it.
func (w *continuation) end() error {
	return w.print(w.stop.Add(w.decoder.Flush()) + w.stop.Flush())
}

func (w *continuation) print(text string) error {
	return printText(w.out, text)
}

// printText writes a text if it is not empty.
func printText(out io.Writer, text string) error {
	if text == "" {
		return nil
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
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
