package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/text"
)

// Rendering returns how the conversations of a run are rendered.
func (b *Base) Rendering() text.TemplateConfig { return b.tuning.Rendering() }

// Rendering returns how a conversation with the model is rendered today.
func (m *OpenModel) Rendering() text.TemplateConfig {
	var of *settings.Tuning
	if m.base != nil {
		of = m.base.tuning
	}
	c := of.Rendering()
	c.Now = program.Now()
	return c
}

// Asked returns the tokens of a conversation up to the beginning of the assistant's answer.
func Asked(ctx context.Context, of *text.Template, t text.Tokenizer, talk []text.Message,
	c text.TemplateConfig) ([]int, error) {
	c.AddGenerationPrompt = true
	rendered, err := of.Render(ctx, talk, c)
	if err != nil {
		return nil, err
	}
	return t.Encode(rendered)
}

// answerEnds returns the ids that end a model's texts, and the id that ends its answers in a template. If a template
// has no name for the token that ends a text, it gets the first of them.
func answerEnds(ctx context.Context, t text.Tokenizer, ends []int, endOfText int, of *text.Template,
	c text.TemplateConfig) ([]int, error) {
	ends = slices.Clone(ends)
	add := func(id int) {
		if id >= 0 && !slices.Contains(ends, id) {
			ends = append(ends, id)
		}
	}
	if add(endOfText); of == nil {
		return ends, nil
	}
	if b, ok := t.(*text.SubwordTokenizer); ok && of.EOS == "" && len(ends) > 0 {
		of.EOS = b.Token(ends[0])
	}
	end, err := of.End(ctx, t, c)
	add(end)
	return ends, err
}

// AnswerEnds returns the ids that end the model's answers in a template.
func (m *OpenModel) AnswerEnds(ctx context.Context, of *text.Template) ([]int, error) {
	return answerEnds(ctx, m.Tokenizer, m.Ends, m.EndOfText, of, m.Rendering())
}

// CheckTalks returns an error for a run without a model that writes or without a template of conversations.
func (in *Inspection) CheckTalks() error {
	if err := in.checkWrites(); err != nil || in.Config.Tuning != nil {
		return err
	}
	_, err := text.OpenTemplate(in.Dir, "", nil)
	if errors.Is(err, text.ErrNoTemplate) {
		err = fmt.Errorf("%s: got a model without a chat template, want one that %s has tuned, or --template", in.Dir,
			program.Command("finetune"))
	}
	return err
}
