// Package classify is the command attention classify, which classifies texts with a model of attention finetune or with
// an encoder.
package classify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"

	"github.com/spf13/cobra"
)

const help = `Print the classes of each text with their probabilities, the likeliest first.
--model is a run of attention finetune --task classify, or a folder of BERT or
DistilBERT for sequence classification. --text may be given more than once. Each
line of a --text-file is a text; - is the standard input.`

const example = `  attention classify --model runs/spam --text "You have won a prize"
  attention classify --model runs/spam --text-file messages.txt`

// command holds the flags of attention classify.
type command struct {
	model, base, file string
	texts             []string
}

// New returns the command attention classify.
func New() *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use:                   "classify --model DIR --text TEXT",
		Short:                 "Print the classes of texts with a fine-tuned model",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.model, "model", "", "`folder` of the run or of the encoder")
	f.StringVar(&c.base, "base", "", "`folder` in which the base of the run is now")
	f.StringArrayVar(&c.texts, "text", nil, "`text` whose class is asked for; may be given more than once")
	f.StringVar(&c.file, "text-file", "", "`file` with a text in each line; - is the standard input")
	return cmd
}

// run prints the classes of each text.
func (c *command) run(ctx context.Context, w, notes io.Writer) error {
	texts := c.texts
	switch {
	case c.model == "":
		return errors.New("--model: missing, want the folder of a run of attention finetune --task classify or " +
			"of an encoder")
	case c.file != "" && len(texts) > 0:
		return errors.New("--text-file: got a file besides --text, want one of them")
	case c.file != "":
		content, err := term.Await(ctx, func() ([]byte, error) { return settings.ReadFile("--text-file", c.file) })
		if err != nil {
			return fmt.Errorf("--text-file: %w", err)
		}
		for line := range bytes.Lines(content) {
			texts = append(texts, string(bytes.TrimRight(line, "\r\n")))
		}
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" })
	if len(texts) == 0 {
		return errors.New("--text: got no text, want one")
	}
	in, err := models.Source{Dir: c.model, Base: c.base}.Inspect(notes)
	if err != nil {
		return err
	}
	m, err := in.OpenClasses()
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	program.Notes(notes, m.Notes)
	out, tokens := term.NewOutput(w), make([]int, len(texts))
	for i, text := range texts {
		chances, err := term.Await(ctx, func() (chances []float64, err error) {
			chances, tokens[i], err = m.Of(text)
			return chances, err
		})
		if err != nil {
			return fmt.Errorf("--text: %w", err)
		}
		fmt.Fprintln(out, likeliest(m.Names, chances)+"  "+term.Line(strings.TrimSpace(text)))
	}
	models.PrintCut(notes, m.Window, tokens)
	return out.Err()
}

// likeliest returns the names of the likeliest classes with their probabilities.
func likeliest(names []string, chances []float64) string {
	const most = 3
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(chances[b], chances[a]) })
	var all []string
	for _, i := range order[:min(most, len(order))] {
		all = append(all, fmt.Sprintf("%s %.4f", term.Line(names[i]), chances[i]))
	}
	return strings.Join(all, "  ")
}
