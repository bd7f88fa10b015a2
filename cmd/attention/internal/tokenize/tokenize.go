// Package tokenize is the command attention tokenize, which shows the tokens of a text and learns tokenizers.
package tokenize

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
	"attention/train/text"

	"github.com/spf13/cobra"
)

const help = `Show the tokens of a text with their ids. --tokenizer is gpt2, whose vocabulary
is part of the program, the tokenizer.json of a model, a folder with one, such
as a run's, or with GPT-2's vocab.json and merges.txt, or a GGUF file. Special
tokens in the text, such as <|endoftext|>, have their own ids; none are added.

--json prints an array of ids for each line of the text.

--train learns a byte-level byte-pair encoding of --vocab tokens from a text. It
begins with the 256 bytes and adds the most frequent pairs within the words of
GPT-2's pattern; <|endoftext|>, which ends texts, is the last token. Among
equally frequent pairs, the one with the lower ids comes first, so a text always
gives the same file. attention train --tokenizer and Hugging Face's tokenizers
read the file.`

const example = `  attention tokenize --text "Attention is all you need"
  attention tokenize --train --text-file novel.txt --vocab 8192 --out novel.json
  attention tokenize --tokenizer novel.json --text-file novel.txt --json`

// options are the flags.
type options struct {
	tokenizer, text, file, out string
	json, train                bool
	vocab                      int
}

// New returns the command attention tokenize.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "tokenize [--tokenizer PATH] --text TEXT|--text-file FILE [--json]\n" +
			"  attention tokenize --train --text-file FILE --vocab N --out FILE",
		Short:                 "Show the tokens of a text, or learn a tokenizer",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags().Changed); err != nil {
				return err
			}
			content, err := term.Await(cmd.Context(), o.content)
			if err != nil {
				return err
			}
			if o.train {
				return o.learn(cmd.Context(), cmd.OutOrStdout(), content)
			}
			return o.show(cmd.Context(), cmd.OutOrStdout(), content)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.tokenizer, "tokenizer", text.GPT2, "`path` of a tokenizer.json, of a folder with one, or of a GGUF file; or gpt2")
	f.StringVar(&o.text, "text", "", "`text` to show the tokens of")
	f.StringVar(&o.file, "text-file", "", "UTF-8 `file` with the text; - is the standard input")
	f.BoolVar(&o.json, "json", false, "print an array of ids for each line")
	f.BoolVar(&o.train, "train", false, "learn a tokenizer from the text")
	f.IntVar(&o.vocab, "vocab", 0, "`tokens` to learn, at least 257")
	f.StringVar(&o.out, "out", "", "`file` for the tokenizer that is learned")
	return cmd
}

// check returns an error for flags that do not go together.
func (o options) check(given func(name string) bool) error {
	with, want := []string{"vocab", "out"}, "it beside --train only"
	if o.train {
		with, want = []string{"tokenizer", "text", "json"}, "it without --train only"
	}
	for _, name := range with {
		if given(name) {
			return fmt.Errorf("--%s: got it, want %s", name, want)
		}
	}
	switch {
	case given("text") && given("text-file"):
		return errors.New("--text-file: got a file besides --text, want one of them")
	case !given("text") && o.file == "":
		return errors.New("--text-file: missing, want the file of a text")
	case o.train && !given("vocab"):
		return errors.New("--vocab: missing, want the number of tokens, such as 8192")
	case o.train && o.out == "":
		return errors.New("--out: missing, want a file such as " + text.TokenizerFile)
	}
	return nil
}

// content returns the text.
func (o options) content() (string, error) {
	if o.file == "" {
		if err := text.Check([]byte(o.text)); err != nil {
			return "", fmt.Errorf("--text: %w", err)
		}
		return o.text, nil
	}
	raw, err := settings.ReadFile("--text-file", o.file)
	if err == nil {
		err = text.Check(raw)
	}
	if err != nil {
		return "", fmt.Errorf("--text-file: %s: %w", o.file, folder.WithoutPath(err))
	}
	return string(raw), nil
}

// learn learns a tokenizer from a text, writes it and prints the mean length of its tokens in that text.
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
