// Package tag is the command attention tag, which finds spans with labels, such as names, in texts.
package tag

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/train/pretrained"

	"github.com/spf13/cobra"
)

const help = `Print the spans of each text that have a label, such as names of people and
places. --model is a folder of BERT or DistilBERT for token classification, or a
run of attention finetune --task tag. --text may be given more than once. Each
line of a --text-file is a text; - is the standard input. Classes of tokens with
B- and I- are joined to spans, and spans of class O are not printed.

The output is each text, and below the text its spans: label, mean probability
of the tokens' classes, place, and text. A place 4:16 is from byte 4 up to byte
16. --json prints an object for each text, whose spans also have their places in
characters (runes).`

const example = `  attention tag --model ner --text "Ada Lovelace lived in London."
  attention tag --model ner --text-file lines.txt --json`

// options are the flags.
type options struct {
	model, base, file string
	texts             []string
	json, first       bool
}

// New returns the command attention tag.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:                   "tag --model DIR --text TEXT",
		Short:                 "Find names and other spans with a label in texts",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.model, "model", "", "`folder` of the encoder, or of a run of attention finetune --task tag")
	f.StringVar(&o.base, "base", "", "`folder` in which the base of the run is now")
	f.StringArrayVar(&o.texts, "text", nil, "`text` with spans; may be given more than once")
	f.StringVar(&o.file, "text-file", "", "UTF-8 `file` with a text in each line; - is the standard input")
	f.BoolVar(&o.first, "first-tokens", false, "give each word the class of its first token, as a run of --task tag learns")
	f.BoolVar(&o.json, "json", false, "print an object for each text")
	return cmd
}

// tagged is a text with its spans.
type tagged struct {
	Text  string            `json:"text"`
	Spans []pretrained.Span `json:"spans"`
}

func (o options) run(ctx context.Context, w, notes io.Writer) (err error) {
	switch {
	case o.model == "":
		return errors.New("--model: missing, want the folder of an encoder")
	case o.file != "" && len(o.texts) > 0:
		return errors.New("--text-file: got a file besides --text, want one of them")
	case o.file != "":
		o.texts, err = term.Await(ctx, func() ([]string, error) { return settings.ReadLines("--text-file", o.file) })
		if err != nil {
			return err
		}
	case len(o.texts) == 0:
		return errors.New("--text: got no text, want one")
	}
	encoder, from, err := models.OpenHead(o.model, o.base, settings.TagTask, pretrained.OpenTokenClassifier)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	program.Notes(notes, from)
	t, err := encoder.Tagger()
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	t.FirstTokens = o.first
	var tokens []int
	spans, err := term.Await(ctx, func() (spans [][]pretrained.Span, err error) {
		spans, tokens, err = t.Spans(ctx, o.texts...)
		return spans, err
	})
	if err != nil {
		return fmt.Errorf("--text: %w", err)
	}
	out := term.NewOutput(w)
	for i, text := range o.texts {
		if err := term.Stopped(ctx, ctx.Err()); err != nil {
			return err
		}
		if o.json {
			if err := json.NewEncoder(out).Encode(tagged{text, spans[i]}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(out, term.Line(text))
		for _, s := range spans[i] {
			fmt.Fprintf(out, "  %s  %.4f  %d:%d  %s\n", term.Line(s.Label), s.Score, s.Bytes[0], s.Bytes[1],
				term.Line(s.Text))
		}
	}
	models.PrintCut(notes, encoder.Sentence.MaxLength, tokens)
	return out.Err()
}
