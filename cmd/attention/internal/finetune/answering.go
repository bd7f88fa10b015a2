package finetune

import (
	"context"
	"fmt"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/live"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/text"
)

// answering is the task of a decoder: to continue texts, or to classify them.
type answering struct {
	*tuning
	base     *models.Base
	model    settings.Model
	examples examples
	prompts  []prompt
	answers  *generate.Generator // of the prompts; nil if there are none
}

// longestRow is the most tokens of a row by default.
const longestRow = 512

// shownAnswers is how many answers are shown.
const shownAnswers = 2

func (r *answering) open(flag string) (err error) {
	c := &r.config
	if r.base, err = models.OpenBase(*c); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	if err := r.openFiles(); err != nil {
		return err
	}
	talks := false
	for _, f := range r.files {
		talks = talks || f.NeedTemplate()
	}
	if r.base.Template == nil && talks && c.Tuning.Classes == nil {
		c.Tuning.Template = text.Alpaca
		if r.base.Ends, r.base.Template, err = models.OpenTemplate(c.Tuning, r.base.GPT); err != nil {
			return err
		}
	}
	r.model = settings.NewDecoder(r.base.Model)
	c.Model, c.Vocabulary, c.Dtype = r.model.ModelConfig, r.base.Tokenizer.Config(), r.base.Dtype().String()
	fit := c.Tuning.Context == 0
	if err := r.fit(r.model.Context(), longestRow); err != nil {
		return err
	}
	r.examples.files = r.files
	if err := r.examples.open(r.ctx, c, r.base, fit); err != nil || c.Sample.Tokens == 0 {
		return err
	}
	r.prompts, err = r.examples.prompts(r.ctx, r.base, shownAnswers)
	return err
}

func (r *answering) params() *layers.Params { return r.base.Params }

func (r *answering) epoch() (examples, batches int) {
	s := r.examples.training.Summary()
	return s.Examples, s.Batches
}

func (r *answering) plan(p *session.Plan, of live.Command) error {
	c := r.config
	p.Loss, p.Source = text.PackedLoss(r.base.Model.PackedLoss), r.examples.training
	if c := r.base.Classifier; c != nil {
		p.Loss = text.PackedLoss(c.PackedLoss)
	}
	p.Training.BatchTokens = c.Batch * c.Tuning.Context
	if v := r.examples.valid; v != nil {
		p.Validation = v
	}
	first, err := r.examples.first(r.ctx)
	p.Page = of.Page.Of(live.Shown{Model: r.model, Tokenizer: r.base.Tokenizer, Prompt: first,
		Copy: func() (*models.OpenModel, error) { return models.CopyBase(c, r.base) }})
	return err
}

func (r *answering) data() [][]string {
	all := [][]string{dataPhrases(r.examples.training.Summary())}
	if v := r.examples.valid; v != nil {
		all = append(all, dataPhrases(v.Summary()))
	}
	return all
}

func (r *answering) rows() string {
	return fmt.Sprintf("%s of %d tokens", settings.Count(r.config.Batch*max(r.config.Training.Accumulate, 1), "row"),
		r.config.Tuning.Context)
}

func (r *answering) unit() string {
	if r.base.Classifier != nil {
		return "text"
	}
	return "token"
}

func (r *answering) use() (text, command string) {
	dir := r.Folder.Path
	switch {
	case r.base.Classifier != nil:
		return "To give a text a class", program.Command("classify", "--model", dir, "--text", "TEXT")
	case !r.examples.talks:
		return "To continue a text", program.Command("generate", "--model", dir, "--prompt", "TEXT")
	}
	return "To talk with it", program.Command("chat", "--model", dir)
}

// printComparison prints the answers of the base and of the tuned model, or the classes of held-out texts.
func (r *answering) printComparison(ctx context.Context) error {
	if err := r.printAnswers(ctx); err != nil {
		return err
	}
	return r.printConfusion(ctx)
}
