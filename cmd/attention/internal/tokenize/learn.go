package tokenize

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
	"attention/train/text"
)

// learn learns a tokenizer from a text, writes it and prints how long its tokens are there.
func (o options) learn(ctx context.Context, w io.Writer, content string) error {
	learned, err := term.Await(ctx, func() ([]byte, error) {
		learned, err := text.LearnBytePairs(content, o.vocab)
		if err != nil {
			return nil, fmt.Errorf("--vocab: %w", err)
		}
		return learned, nil
	})
	if err != nil {
		return err
	}
	t, err := text.ReadTokenizer(learned)
	if err != nil {
		return err
	}
	ids, err := term.Await(ctx, func() ([]int, error) { return t.Encode(content) })
	if err != nil {
		return err
	}
	err = folder.WriteFile(o.out, func(w io.Writer) error { _, err := w.Write(learned); return err })
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	out := term.NewOutput(w)
	fmt.Fprintf(out, "In %s: %s\ntext  %s\n", term.Printable(o.out), settings.Count(t.Len(), "token"),
		sizes(content, len(ids)))
	return out.Err()
}
