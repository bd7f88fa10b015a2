package train

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/layers/generate"
	"attention/train/text"
)

// promptIDs returns the tokens that the sample continues: --prompt, or a window of the
// validation split from a word's start.
func (r *training) promptIDs(prompt string) ([]int, error) {
	if prompt == "" {
		n := r.model.Context()
		if r.model.Causal() {
			n = min(n, shownPrompt)
		}
		begin, err := r.wordStart(0, n)
		return r.corpus.Validation[begin:][:n], err
	}
	ids, err := r.corpus.Tokenizer.Encode(prompt)
	if err != nil {
		return nil, fmt.Errorf("--prompt: %w", err)
	}
	if !r.model.Causal() && len(ids) < r.model.Context() {
		return nil, fmt.Errorf("--prompt: got %d %s, want at least --context %d: layer %s continues whole windows only",
			len(ids), r.corpus.Unit(), r.model.Context(), r.model.Title())
	}
	return ids, nil
}

// shownPrompt is the number of tokens of the validation split that a sample continues.
const shownPrompt = 64

// printSample continues the prompt with tokens drawn from the model, and keeps the text for the report.
func (r *training) printSample(ctx context.Context) error {
	if r.config.Sample.Tokens == 0 {
		return nil
	}
	runtime.GC() // what the snapshot of the weights took is enough for a cache
	ids, err := r.sample(ctx)
	if err != nil && ctx.Err() != nil {
		return term.Interrupted(fmt.Errorf("train: interrupted before the sample; %s holds the model", r.folder.Path))
	}
	if err != nil {
		return fmt.Errorf("train: sample: %w; %s holds the model", err, r.folder.Path)
	}
	given, err := decode(r.corpus.Tokenizer, r.prompt)
	if err != nil {
		return err
	}
	text, err := decode(r.corpus.Tokenizer, ids)
	if err != nil {
		return err
	}
	r.report.Session().Sample = &run.Sample{Prompt: given, Text: text}
	fmt.Fprintf(r.out, "\nGiven this text:\n\n%s\n\nthe model continues:\n\n%s\n", given, text)
	return nil
}

// decode returns the text of ids, with U+FFFD for bytes that are no character.
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

// sample draws the configured number of tokens.
func (r *training) sample(ctx context.Context) ([]int, error) {
	n := r.config.Sample.Tokens
	c := generate.Config{VocabSize: r.corpus.Tokenizer.Len(), Temperature: 1, Seed: r.config.Training.Seed}
	g, err := run.NewGenerator(r.model, c, len(r.prompt)+n)
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
