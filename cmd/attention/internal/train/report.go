package train

import (
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/internal/dense"
	"attention/internal/moved"
	"attention/internal/tensorprint"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// printHead prints the model and the text of the run.
func (r *training) printHead() {
	c, config := r.corpus, r.config
	training := config.Training
	kinds := "in the vocabulary"
	if c.Tokenizer.Config().Name == text.Characters {
		kinds = "distinct"
	}
	r.Print("text", term.Line(config.Text.Name)+":", fmt.Sprintf("%d %s,", len(c.Training), c.Unit()),
		fmt.Sprintf("and %d for validation;", len(c.Validation)), fmt.Sprintf("%d %s", c.Tokenizer.Len(), kinds))
	numbers := config.Dtype
	if p := r.Training.Precision; p != graph.FullPrecision {
		numbers += ", products of " + p.String()
	}
	r.Print("model", append(strings.SplitAfter(r.model.String()+", "+numbers+":", ", "), r.countPhrases()...)...)
	if config.Init != nil {
		r.Print("", "begins with the weights of "+term.Line(config.Init.Name))
	}
	r.Print("training", fmt.Sprintf("%s of %s of %d %s", settings.Count(training.Steps, "step"),
		settings.Count(config.Batch*max(training.Accumulate, 1), "window"), r.model.Context(), c.Unit()))
	if len(config.Growth) > 0 {
		r.Print("", growthPhrases(config.Growth)...)
	}
	if !r.model.Causal() {
		r.Print("", "the layer sees the whole window:", "only what comes after it is asked for")
	}
	r.Print("solver", r.solverPhrases()...)
	cache := ""
	if d, ok := r.config.Model.Blocks(); ok {
		cache = fmt.Sprintf(", cache of a text %.1f MB", float64(cacheBytes(d, r.model.Params().Dtype()))/1e6)
	}
	r.PrintMemory(cache)
}

// growthPhrases returns how long windows are at first.
func growthPhrases(stages []text.GrowthStage) (phrases []string) {
	for _, s := range stages {
		phrases = append(phrases, fmt.Sprintf("%s of windows of %d,", settings.Count(s.Steps, "step"), s.Context))
	}
	phrases[0] = "first " + phrases[0]
	return append(phrases, "several to a row")
}

// countPhrases returns the number of parameters.
func (r *training) countPhrases() []string {
	n := r.model.Params().Count()
	phrases := []string{fmt.Sprintf("%d parameters", n)}
	if d, ok := r.config.Model.Blocks(); ok && d.LearnedPositions {
		positions := d.ContextLength * d.Blocks[0].Attention.EmbedDim
		phrases = append(phrases, fmt.Sprintf("(%d without those of positions)", n-positions))
	}
	if frozen := r.model.Params().CountFrozen(); frozen > 0 {
		phrases[len(phrases)-1] += ","
		phrases = append(phrases, fmt.Sprintf("of which %d are frozen", frozen))
	}
	return phrases
}

func (r *training) solverPhrases() []string {
	training, solver := r.config.Training, r.config.Training.Solver
	text := fmt.Sprintf("%s, learning rate %v", solver.Name, peak(training.Schedule.Schedule))
	for _, f := range []struct {
		name  string
		value float64
	}{{"momentum", solver.Momentum}, {"weight decay", solver.WeightDecay}, {"gradient norm at most", training.ClipNorm}} {
		if f.value > 0 {
			text += fmt.Sprintf(", %s %v", f.name, f.value)
		}
	}
	for _, g := range solver.Groups {
		text += ", " + term.Line(g.String())
	}
	return strings.SplitAfter(text, ", ")
}

// peak returns the largest learning rate of a schedule.
func peak(s train.Schedule) float64 {
	switch c := s.(type) {
	case train.CosineLR:
		return c.Peak
	case train.WSD:
		return c.Peak
	}
	return s.At(0)
}

// stepWidth returns the width of the column of steps.
func (r *training) stepWidth() int { return max(len("step"), len(fmt.Sprint(r.config.Training.Steps))) }

// lossTable returns the table of losses.
func (r *training) lossTable() term.Table {
	t := term.Table{Form: fmt.Sprintf("%%%dd  %%8.4f  %%10.4f", r.stepWidth()),
		Names: []any{"step", "training", "validation"}}
	if r.corpus.NGram != nil {
		t.Add("  %8.4f", "bigram")
		t.Add("  %8.4f", "unigram")
	}
	t.Add("  %9.3f", "grad norm")
	t.Add("  %8.0f", "tokens/s")
	return t
}

// printEvaluation prints one line of the table of losses.
func (r *training) printEvaluation(e loop.Evaluation) {
	loss, rate := r.History.Recent()
	cells := []any{e.Step, loss, e.Loss}
	if ngram := r.corpus.NGram; ngram != nil {
		cells = append(cells, ngram.Bigram, ngram.Unigram)
	}
	r.Table.Row(r.Out, append(cells, r.History.Steps[len(r.History.Steps)-1].GradNorm, rate)...)
}

// mostShown is the maximum number of parameters with a row in a report. For a larger model the report shows only the
// first and the last few parameters.
const (
	mostShown = 12
	lastShown = 4
)

// printUpdates shows how far training moved each parameter, and a corner of the query weights before and after
// training.
func (r *training) printUpdates(shown []moved.Tensor) {
	width, corner := len("parameter"), shown[0] // if the layer has no weights of its own
	queries, _ := r.model.Queries()
	for _, p := range slices.Backward(shown) {
		width = max(width, len(p.Name))
		if strings.Contains(p.Name, queries) {
			corner = p
		}
	}
	since := ""
	if r.From > 0 {
		since = fmt.Sprintf(" since step %d", r.From)
	}
	fmt.Fprintf(r.Out, "\nHow far training moved the weights%s (Euclidean norms):\n\n", since)
	table := term.Table{Form: fmt.Sprintf("%%-%ds  %%12s  %%8.4f  %%8.4f  %%8.4f", width),
		Names: []any{"parameter", "shape", "before", "after", "change"}}
	for i, p := range shown {
		if left := r.model.Params().Len() - len(shown); left > 0 && i == len(shown)-lastShown {
			fmt.Fprintf(r.Out, "… and %d more …\n", left)
		}
		was, is, change := p.Norms()
		table.Row(r.Out, p.Name, fmt.Sprint(p.Now.Shape()), was, is, change)
	}
	fmt.Fprintf(r.Out, "\nA corner of %s before:\n%s\nand after:\n%s\n",
		corner.Name, cornerString(corner.Before), cornerString(corner.Now))
}

// cornerString prints the first three rows and four columns.
func cornerString(t *tensor.Dense) string {
	rows, cols := min(3, t.Shape()[0]), min(4, t.Shape()[1])
	corner, _ := t.Slice(tensor.S(0, rows), tensor.S(0, cols)) // which is inside
	return tensorprint.Format(dense.Float64s(corner.(*tensor.Dense)), []int{rows, cols})
}

// cacheBytes returns the memory that the caches of all layers take for a text of full length.
func cacheBytes(c layers.DecoderConfig, dt tensor.Dtype) (n int) {
	for i := range c.NumLayers {
		n += c.Block(i).CacheWidth() // of a token
	}
	return n * c.ContextLength * int(dt.Size())
}
