package finetune

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/text"
)

// examples are the examples of a run, to learn from and held out.
type examples struct {
	lessons         *text.Lessons
	files           []*text.Examples
	training, valid *text.Packed // valid is nil without held-out examples
	talks           bool         // whether a template makes the text of the first example
}

// open packs the examples of a run, as its base learns them. With fit a row has the length of the longest example, up
// to the context of the config. A batch has no more rows than there are.
func (e *examples) open(ctx context.Context, c *settings.Config, g *models.Base, fit bool) (err error) {
	if len(g.Ends) == 0 {
		return errors.New("--model: got a model without a token that ends a text, want one that has it")
	}
	e.lessons, err = text.NewLessons(ctx, text.LessonConfig{Tokenizer: g.Tokenizer, Template: g.Template, Ends: g.Ends,
		Rendering: c.Tuning.Rendering(), TrainOnPrompts: c.Tuning.TrainOnPrompts, Classes: c.Tuning.Classes})
	if err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	rows := text.PackConfig{Batch: c.Batch, Context: c.Tuning.Context, Long: c.Tuning.Long,
		Alone: !g.Model.Config().SharesRows()}
	learned := rows
	learned.Shuffle, learned.Seed = true, uint64(c.Training.Seed)
	if e.training, err = text.NewPacked(ctx, e.files[0], e.lessons, learned); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	longest := e.training.Summary().Longest
	if c.Tuning.Valid != nil {
		rows.Once = true
		if e.valid, err = text.NewPacked(ctx, e.files[1], e.lessons, rows); err != nil {
			return fmt.Errorf("--valid: %w", err)
		}
		longest = max(longest, e.valid.Summary().Longest)
	}
	if fit {
		const unit = 8 // tokens
		c.Tuning.Context = min(c.Tuning.Context, (longest+unit-1)/unit*unit)
		err = e.training.Reshape(c.Batch, c.Tuning.Context)
	}
	c.Batch = e.training.Config().Batch
	if err == nil && e.valid != nil {
		err = e.valid.Reshape(c.Batch, c.Tuning.Context)
	}
	if err != nil {
		return err
	}
	first, err := e.files[0].At(0)
	e.talks = first.Messages != nil && g.Template != nil
	return err
}

// first returns the ids of the first example, a held-out one if there is one.
func (e *examples) first(ctx context.Context) ([]int, error) {
	example, err := e.files[len(e.files)-1].At(0)
	if err != nil {
		return nil, err
	}
	lesson, _, err := e.lessons.Of(ctx, example)
	return lesson.IDs, err
}

// mostAsked is how many examples are looked through for prompts.
const mostAsked = 100

// prompts returns the ids of up to n conversations up to the last answer, with the answers. It prefers held-out ones,
// and leaves out those that leave no space for an answer.
func (e *examples) prompts(ctx context.Context, b *models.Base, n int) (all []prompt, err error) {
	file := e.files[len(e.files)-1]
	for i := 0; i < min(file.Len(), mostAsked) && len(all) < n; i++ {
		example, err := file.At(i)
		if err != nil {
			return nil, err
		}
		last := lastAnswer(example)
		if last < 1 {
			continue
		}
		p := prompt{question: example.Messages[last-1].Text(), answer: example.Messages[last].Text()}
		if b.Template == nil {
			p.ids, err = e.lessons.Prompt(p.question)
		} else {
			p.ids, err = models.Asked(ctx, b.Template, b.Tokenizer, example.Messages[:last], example.Rendering(b.Rendering()))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Where(i), err)
		}
		if len(p.ids) < b.Model.Config().ContextLength {
			all = append(all, p)
		}
	}
	return all, nil
}

// lastAnswer returns the index of the last message that the assistant says; −1 if there is none.
func lastAnswer(e text.Example) int {
	for i, m := range slices.Backward(e.Messages) {
		if m.Role == "assistant" {
			return i
		}
	}
	return -1
}

// haveThoughts reports whether an answer in a file of examples has thoughts. A wrong file is reported where its
// examples are learned.
func haveThoughts(path string) bool {
	file, err := text.OpenExamples(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return file.Think()
}
