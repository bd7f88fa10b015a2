package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"attention/layers/generate"
	"attention/train/text"
)

// promptIDs is what the sample continues: --prompt, or a window of the validation
// split.
func (r *trainRun) promptIDs(prompt string) ([]int, error) {
	if prompt == "" {
		n := r.model.context()
		if r.model.causal() {
			n = min(n, shownPrompt)
		}
		return r.corpus.validation[:n], nil
	}
	ids, err := r.corpus.tokenizer.Encode(prompt)
	if err != nil {
		return nil, fmt.Errorf("--prompt: %w", err)
	}
	if !r.model.causal() && len(ids) < r.model.context() {
		return nil, fmt.Errorf("--prompt: got %d %s, want at least --context %d: layer %s continues whole windows only",
			len(ids), r.corpus.unit(), r.model.context(), r.model.title())
	}
	return ids, nil
}

// shownPrompt is how much of the validation split a sample goes on from.
const shownPrompt = 64

// printSample continues the prompt with tokens drawn from the model.
func (r *trainRun) printSample(ctx context.Context) error {
	if r.config.Sample.Tokens == 0 {
		return nil
	}
	ids, err := r.sample(ctx)
	const said = "train: sample: %w; %s holds the model"
	if err != nil && ctx.Err() != nil {
		return interrupted{fmt.Errorf(said, ctx.Err(), r.folder.path)}
	}
	if err != nil {
		return fmt.Errorf(said, err, r.folder.path)
	}
	given, err := decode(r.corpus.tokenizer, r.prompt)
	if err != nil {
		return err
	}
	text, err := decode(r.corpus.tokenizer, ids)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "\nGiven this text:\n\n%s\n\nthe model goes on:\n\n%s\n", printable(given), printable(text))
	return nil
}

// decode is the text of ids, with U+FFFD for what is no character.
func decode(t text.Tokenizer, ids []int) (string, error) {
	d := text.NewDecoder(t)
	var text strings.Builder
	for _, id := range ids {
		part, err := d.Decode(id)
		if err != nil {
			return "", err
		}
		text.WriteString(part)
	}
	return text.String() + d.Flush(), nil
}

// sample draws as many tokens as were asked for.
func (r *trainRun) sample(ctx context.Context) ([]int, error) {
	n := r.config.Sample.Tokens
	c := generate.Config{Vocab: r.corpus.tokenizer.Len(), Temperature: 1, Seed: r.config.Training.Seed}
	g, err := newGenerator(r.params, r.model, c, len(r.prompt)+n)
	if err == nil {
		err = g.Prompt(ctx, r.prompt)
	}
	var ids []int
	for err == nil && len(ids) < n {
		var id int
		id, err = g.Next(ctx)
		ids = append(ids, id)
	}
	return ids, err
}

// printable writes line ends in one way and escapes what a terminal would obey.
func printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
