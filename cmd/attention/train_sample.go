package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"attention/layers/generate"
	"attention/train"
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
	if r.length == 0 {
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
func decode(t train.Tokenizer, ids []int) (string, error) {
	d := train.NewDecoder(t)
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
	ids, end := slices.Clone(r.prompt), len(r.prompt)+r.length
	for turn := int64(0); len(ids) < end; turn++ {
		g, err := r.generator(turn)
		if err != nil {
			return nil, err
		}
		seen := ids
		if m := r.model.context(); r.cached() && len(seen) > m {
			seen = seen[len(seen)-max(m/2, 1):]
		}
		err = g.Prompt(ctx, seen)
		for err == nil && len(ids) < end {
			var id int
			if id, err = g.Next(ctx); err == nil {
				ids = append(ids, id)
			}
		}
		if err != nil && !errors.Is(err, generate.ErrFull) {
			return nil, err
		}
	}
	return ids[len(r.prompt):], nil
}

// cached says whether the model keeps the keys and values of what it has read. Its text
// ends where its positions do; another turn goes on from their last half.
func (r *trainRun) cached() bool { _, ok := r.model.(*gptModel); return ok }

// generator draws tokens from the model, others in each turn.
func (r *trainRun) generator(turn int64) (*generate.Generator, error) {
	c := generate.Config{Vocab: r.corpus.tokenizer.Len(), Temperature: 1, Seed: r.config.Training.Seed + turn}
	if m, ok := r.model.(*gptModel); ok {
		c.Capacity = min(m.context(), len(r.prompt)+r.length)
		return generate.New(r.params, m.model, c)
	}
	return generate.NewWithoutCache(r.params, r.model.forward, r.model.context(), c)
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
