package train

import (
	"context"
	"fmt"
	"runtime"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/layers/generate"
	"attention/train/text"
)

// promptIDs returns the tokens that the sample continues: --prompt, or else a window of the validation split that
// begins with a word.
func (r *training) promptIDs(prompt string) ([]int, error) {
	if prompt == "" {
		n := r.model.Context()
		if r.model.Causal() {
			n = min(n, shownPrompt)
		}
		return r.corpus.Words(0, n)
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

// printSample continues the prompt with tokens drawn from the model's distribution, and keeps the text for the report.
func (r *training) printSample(ctx context.Context) error {
	if r.config.Sample.Tokens == 0 {
		return nil
	}
	runtime.GC() // the memory of the weights' snapshot is large enough for a cache
	ids, err := r.sample(ctx)
	if err != nil && ctx.Err() != nil {
		return term.Interrupted(fmt.Errorf("interrupted before the sample; %s holds the model", r.Folder.Path))
	}
	if err != nil {
		return fmt.Errorf("sample: %w; %s holds the model", err, r.Folder.Path)
	}
	given, err := text.Whole(r.corpus.Tokenizer, r.prompt)
	if err != nil {
		return err
	}
	drawn, err := text.Whole(r.corpus.Tokenizer, ids)
	if err != nil {
		return err
	}
	r.Report.Session().Sample = &session.Sample{Prompt: given, Text: drawn}
	fmt.Fprintf(r.Out, "\nGiven this text:\n\n%s\n\nthe model continues:\n\n%s\n", given, drawn)
	return nil
}

// sample draws the configured number of tokens.
func (r *training) sample(ctx context.Context) ([]int, error) {
	n := r.config.Sample.Tokens
	c := generate.Config{VocabSize: r.corpus.Tokenizer.Len(), Temperature: 1, Seed: r.config.Training.Seed}
	g, err := models.NewGenerator(r.model, c, len(r.prompt)+n)
	if err != nil {
		return nil, err
	}
	if err := g.Prompt(ctx, r.prompt); err != nil {
		return nil, err
	}
	var ids []int
	for id, err := range g.Take(ctx, n) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
