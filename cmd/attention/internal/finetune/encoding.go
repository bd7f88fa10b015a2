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
	"attention/train"
	"attention/train/encoders"
	"attention/train/pretrained"
)

// encoding is a task of an encoder: vectors of texts, their classes, scores of pairs, tags of words, or masked tokens.
type encoding struct {
	*tuning
	base            *pretrained.Encoder
	training, valid *encoders.Batches  // valid is nil without held-out examples
	before          []encoders.Measure // of the base
	counts          [][]int            // of encoders.Confusion, of the last measure
}

// keptGraphs is the number of shapes of batches whose graphs are kept: texts of different lengths have different
// shapes.
const keptGraphs = 32

func (r *encoding) open(flag string) (err error) {
	c := &r.config
	if r.base, err = models.OpenEncoderBase(*c); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	if err := r.openFiles(); err != nil {
		return err
	}
	m := r.base.Model.Config()
	c.Model, c.Dtype = settings.ModelConfig{Encoder: &m}, r.base.Params.Dtype().String()
	c.Vocabulary = r.base.Tokenizer.Config()
	if err := r.fit(r.base.Sentence.MaxLength, longestRow); err != nil {
		return err
	}
	if n := len(r.base.Tokenizer.WithTemplate(nil)); c.Tuning.Context <= n {
		return fmt.Errorf("--context: got %d, want more than the %d special tokens of each text", c.Tuning.Context, n)
	}
	rows := encoders.Config{Batch: c.Batch, MaxLength: c.Tuning.Context, Shuffle: true, Seed: uint64(c.Training.Seed),
		Classes: c.Tuning.Classes, Masked: c.Tuning.Task == settings.MaskTask,
		Tagged: c.Tuning.Task == settings.TagTask, Ranked: c.Tuning.Task == settings.RankTask}
	if r.training, err = encoders.NewBatches(r.ctx, r.base, r.files[0], rows); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if c.Tuning.Valid != nil {
		rows.Shuffle, rows.Once = false, true
		if r.valid, err = encoders.NewBatches(r.ctx, r.base, r.files[1], rows); err != nil {
			return fmt.Errorf("--valid: %w", err)
		}
	}
	return nil
}

func (r *encoding) params() *layers.Params { return r.base.Params }

func (r *encoding) epoch() (examples, batches int) {
	s := r.training.Summary()
	return s.Examples, s.Batches
}

func (r *encoding) plan(p *session.Plan, _ live.Command) (err error) {
	p.Source, p.Training.Graphs = r.training, keptGraphs
	p.Training.BatchTokens = r.training.Summary().Tokens / r.training.Summary().Batches // on average
	if r.valid != nil {
		p.Validation = r.valid
	}
	p.Loss, err = encoders.Loss(r.base)
	return err
}

func (r *encoding) data() (all [][]string) {
	for _, b := range []*encoders.Batches{r.training, r.valid} {
		if b == nil {
			break
		}
		s := b.Summary()
		phrases := []string{settings.Count(s.Examples, "example") + ",", fmt.Sprintf("%d tokens,", s.Tokens),
			fmt.Sprintf("in batches of at most %d, %.0f %% full", r.config.Batch, 100*s.Fill)}
		if s.Cut > 0 {
			phrases[2] += ";"
			phrases = append(phrases, fmt.Sprintf("%s cut to %d tokens", settings.Count(s.Cut, "text"), s.Longest))
		}
		all = append(all, phrases)
	}
	return all
}

func (r *encoding) rows() string {
	return settings.Count(r.config.Batch*max(r.config.Training.Accumulate, 1), r.example())
}

// example returns the noun for an example.
func (r *encoding) example() string {
	if r.config.Tuning.Task == settings.EmbedTask || r.config.Tuning.Task == settings.RankTask {
		return "pair"
	}
	return "text"
}

func (r *encoding) unit() string {
	switch r.config.Tuning.Task {
	case settings.TagTask:
		return "word"
	case settings.MaskTask:
		return "masked token"
	}
	return r.example()
}

// measure measures the model on held-out examples.
func (r *encoding) measure(ctx context.Context) ([]encoders.Measure, error) {
	switch r.config.Tuning.Task {
	case settings.ClassifyTask:
		var err error
		if r.counts, err = encoders.Confusion(ctx, r.base, r.valid); err != nil {
			return nil, err
		}
		right, all := rightOf(r.counts)
		return []encoders.Measure{{Name: "accuracy", Value: float64(right) / float64(all)}}, nil
	case settings.TagTask:
		return encoders.EvaluateTags(ctx, r.base, r.valid)
	case settings.RankTask:
		return encoders.EvaluateRanks(ctx, r.base, r.files[1])
	case settings.MaskTask:
		loss, err := encoders.Loss(r.base)
		if err != nil {
			return nil, err
		}
		f, err := layers.NewFunc(r.base.Params, loss, layers.FuncConfig{Graphs: keptGraphs})
		if err != nil {
			return nil, err
		}
		mean, _, err := train.Evaluate(ctx, f, r.valid, nil)
		return []encoders.Measure{{Name: "masked loss", Value: mean}}, err
	}
	return encoders.Evaluate(ctx, r.base, r.files[1])
}

func (r *encoding) measureBase(ctx context.Context) (err error) {
	if r.Leads() && r.valid != nil {
		r.before, err = r.measure(ctx)
	}
	return err
}

func (r *encoding) printNow(context.Context) error { return nil }

// printComparison prints the measures of the base and of the tuned model on held-out examples.
func (r *encoding) printComparison(ctx context.Context) error {
	if r.valid == nil {
		return nil
	}
	after, err := r.measure(ctx)
	if err != nil {
		return err
	}
	n := r.files[1].Len()
	if r.config.Tuning.Task == settings.EmbedTask {
		n = min(n, encoders.MostMeasured)
	}
	fmt.Fprintf(r.Out, "\n%-20s  %8s  %8s\n", settings.Count(n, "held-out "+r.example()), "before", "after")
	for i, m := range after {
		fmt.Fprintf(r.Out, "%-20s  %8.4f  %8.4f\n", m.Name, r.before[i].Value, m.Value)
	}
	r.Report.Before, r.Report.After = r.before, after
	if r.config.Tuning.Task == settings.ClassifyTask {
		r.printCounts(r.counts)
	}
	return nil
}

func (r *encoding) use() (text, command string) {
	dir := r.Folder.Path
	switch r.config.Tuning.Task {
	case settings.ClassifyTask:
		return "To give a text a class", program.Command("classify", "--model", dir, "--text", "TEXT")
	case settings.TagTask:
		return "To find spans in a text", program.Command("tag", "--model", dir, "--first-tokens",
			"--text", "TEXT")
	case settings.RankTask:
		return "To sort lines for a query", program.Command("rank", "--model", dir, "--query", "TEXT", "--text-file", "FILE")
	}
	return "To make vectors of texts", program.Command("embed", "--model", dir, "--text-file", "FILE", "--json")
}
