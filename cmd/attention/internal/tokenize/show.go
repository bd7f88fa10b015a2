package tokenize

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/train/text"

	"github.com/rivo/uniseg"
)

// open returns the tokenizer.
func (o options) open() (*text.SubwordTokenizer, error) {
	if o.tokenizer == text.GPT2 {
		return text.NewGPT2Tokenizer(), nil
	}
	file, err := settings.Locate(o.tokenizer)
	if err != nil {
		return nil, fmt.Errorf("--tokenizer: %w", err)
	}
	t, err := text.OpenTokenizer(file)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = settings.NameHint(o.tokenizer)
		}
		return nil, fmt.Errorf("--tokenizer: %w%s", err, hint)
	}
	return t, nil
}

// show prints the tokens of a text, or the ids of its lines.
func (o options) show(ctx context.Context, w io.Writer, content string) error {
	t, err := o.open()
	if err != nil {
		return err
	}
	out := term.NewOutput(w)
	if o.json {
		return cmp.Or(printLines(ctx, out, t, content), out.Err())
	}
	ids, err := term.Await(ctx, func() ([]int, error) { return t.Encode(content) })
	if err != nil {
		return err
	}
	cells, err := term.Await(ctx, func() ([]string, error) { return cellsOf(t, ids) })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "tokenizer  %s, %s\ntext       %s\n\n", term.Printable(o.tokenizer), settings.Count(t.Len(), "token"),
		sizes(content, len(ids)))
	return cmp.Or(printCells(ctx, out, cells), out.Err())
}

// printLines prints an array of ids for each line of a text. The last line needs no newline at its end.
func printLines(ctx context.Context, out io.Writer, t *text.SubwordTokenizer, content string) error {
	for line := range strings.Lines(content) {
		ids, err := term.Await(ctx, func() ([]int, error) { return t.Encode(strings.TrimRight(line, "\r\n")) })
		if err != nil {
			return err
		}
		array, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", array)
	}
	return nil
}

// sizes returns the bytes and tokens of a text.
func sizes(content string, tokens int) string {
	return fmt.Sprintf("%s, %s, %.2f bytes a token", settings.Count(len(content), "byte"), settings.Count(tokens, "token"),
		float64(len(content))/float64(tokens))
}

// cellsOf returns the ids with their texts in quotes, since a blank before a word belongs to its token.
func cellsOf(t *text.SubwordTokenizer, ids []int) ([]string, error) {
	width := len(strconv.Itoa(t.Len() - 1))
	first, err := t.Decode(ids[:1])
	if err != nil {
		return nil, err
	}
	cells := make([]string, len(ids))
	for i, id := range ids {
		token := first
		if i > 0 { // after another token its text has a blank, which the beginning of a text does not have
			both, err := t.Decode([]int{ids[0], id})
			if err != nil {
				return nil, err
			}
			token = strings.TrimPrefix(both, first)
		}
		cells[i] = fmt.Sprintf("%*d %s", width, id, strconv.Quote(token))
	}
	return cells, nil
}

// printCells prints cells in columns, row by row, until ctx is done.
func printCells(ctx context.Context, out io.Writer, cells []string) error {
	const gap = 2
	widest := 0
	for _, c := range cells {
		widest = max(widest, uniseg.StringWidth(c))
	}
	perRow := max(1, (term.Columns+gap)/(widest+gap))
	for i, c := range cells {
		if i%perRow == perRow-1 || i == len(cells)-1 {
			fmt.Fprintln(out, c)
			if err := term.Stopped(ctx, ctx.Err()); err != nil {
				return err
			}
			continue
		}
		fmt.Fprint(out, c, strings.Repeat(" ", widest+gap-uniseg.StringWidth(c)))
	}
	return nil
}
