package finetune

import (
	"context"
	"fmt"
	"strings"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/term"
	"attention/layers/generate"
	"attention/train/text"
)

// prompt is a question whose answers are printed during a run.
type prompt struct {
	question, answer string
	ids              []int  // ids of the conversation up to the answer
	before           string // the answer of the base
}

// measureBase stores the answers of the base, in the process that leads.
func (r *answering) measureBase(ctx context.Context) (err error) {
	if !r.Leads() || len(r.prompts) == 0 {
		return nil
	}
	c := generate.Config{VocabSize: min(r.base.Tokenizer.Len(), r.base.Model.Config().VocabSize)}
	longest := 0
	for _, p := range r.prompts {
		longest = max(longest, len(p.ids))
	}
	length := min(longest+r.config.Sample.Tokens, r.model.Context())
	if r.answers, err = models.NewGenerator(r.model, c, length); err != nil {
		return err
	}
	for i, p := range r.prompts {
		if r.prompts[i].before, err = r.answer(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// answer returns the likeliest answer of the model as it is now.
func (r *answering) answer(ctx context.Context, p prompt) (string, error) {
	n := min(r.config.Sample.Tokens, r.model.Context()-len(p.ids))
	g := r.answers
	g.Reset() // the weights have changed
	if err := g.Prompt(ctx, p.ids); err != nil {
		return "", err
	}
	decoder, said := text.NewDecoder(r.base.Tokenizer), ""
	for id, err := range g.Take(ctx, n, r.base.Ends...) {
		if err != nil {
			return "", err
		}
		whole, err := decoder.Decode(id) // it has no bytes of an incomplete character
		if err != nil {
			return "", err
		}
		said += whole
	}
	return said, nil
}

// printNow prints the model's present answers to the prompts.
func (r *answering) printNow(ctx context.Context) error {
	for _, p := range r.prompts {
		now, err := r.answer(ctx, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.Out, "        %s → %s\n", short(p.question), short(now))
	}
	return nil
}

// printAnswers prints the answers of the base and of the tuned model.
func (r *answering) printAnswers(ctx context.Context) error {
	for _, p := range r.prompts {
		now, err := r.answer(ctx, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.Out, "\nquestion  %s\nbefore    %s\nafter     %s\nwanted    %s\n", short(p.question),
			short(p.before), short(now), short(p.answer))
	}
	return nil
}

// short returns the beginning of a text, on one line.
func short(s string) string {
	runes := []rune(term.Line(s))
	if strings.TrimSpace(s) == "" {
		return "(nothing)"
	}
	if len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return string(runes)
}
