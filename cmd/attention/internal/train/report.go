package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"attention/cmd/attention/internal/term"
	"attention/internal/tensorprint"
	"attention/layers"
	"attention/train"
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
	fmt.Fprintf(r.out, "text      %s: %d %s, and %d for validation; %d %s\n",
		term.Line(config.Text.Name), len(c.Training), c.Unit(), len(c.Validation), c.Tokenizer.Len(), kinds)
	fmt.Fprintf(r.out, "model     %v, %s: %s parameters\n", r.model, config.Dtype, r.countString())
	if config.Init != nil {
		fmt.Fprintf(r.out, "          begins with the weights of %s\n", term.Line(config.Init.Name))
	}
	fmt.Fprintf(r.out, "training  %d steps of %d windows of %d %s\n",
		training.Steps, config.Batch*max(training.Accumulate, 1), r.model.Context(), c.Unit())
	if !r.model.Causal() {
		fmt.Fprintf(r.out, "          the layer sees the whole window: only what comes after it is asked for\n")
	}
	r.printSolver()
	r.printMemory()
	fmt.Fprintf(r.out, "folder    %s\n", r.folder.Path)
	if r.begin > 0 {
		fmt.Fprintf(r.out, "          continues after %d steps\n", r.begin)
	}
	fmt.Fprintln(r.out)
}

// countString returns the number of parameters.
func (r *training) countString() string {
	if g := r.config.Model.GPT; g != nil {
		n := r.model.Params().Count()
		return fmt.Sprintf("%d (%d without those of positions)", n, n-g.ContextLength*g.EmbedDim)
	}
	return fmt.Sprint(r.model.Params().Count())
}

func (r *training) printSolver() {
	training, solver := r.config.Training, r.config.Training.Solver
	fmt.Fprintf(r.out, "solver    %s, learning rate %v", solver.Name, peakRate(training.Schedule))
	for _, f := range []struct {
		name  string
		value float64
	}{{"momentum", solver.Momentum}, {"weight decay", solver.WeightDecay}, {"gradient norm at most", training.ClipNorm}} {
		if f.value > 0 {
			fmt.Fprintf(r.out, ", %s %v", f.name, f.value)
		}
	}
	fmt.Fprintln(r.out)
}

// peakRate returns the highest learning rate of a schedule.
func peakRate(s train.ScheduleConfig) float64 {
	if c, ok := s.Schedule.(train.CosineLR); ok {
		return c.Peak
	}
	return s.At(0)
}

// printMemory prints the memory of a step and, for a GPT, of the sample's cache.
func (r *training) printMemory() {
	const mega = 1e6
	m := r.loop.Memory()
	fmt.Fprintf(r.out, "memory    weights %.1f MB, gradients %.1f MB, solver %.1f MB, graph %.1f MB",
		float64(m.Weights)/mega,
		float64(m.Gradients)/mega, float64(m.Solver)/mega, float64(m.Graphs)/mega)
	if g := r.config.Model.GPT; g != nil {
		fmt.Fprintf(r.out, "; cache of a text %.1f MB", float64(cacheBytes(*g, r.model.Params().Dtype()))/mega)
	}
	fmt.Fprintln(r.out)
}

// printEvaluation prints one line of the table of losses.
func (r *training) printEvaluation(e train.Evaluation) {
	width := max(len("step"), len(fmt.Sprint(r.config.Training.Steps)))
	ngram := r.corpus.NGram
	head, values := "", ""
	if ngram != nil {
		head = fmt.Sprintf("  %8s  %8s", "bigram", "unigram")
		values = fmt.Sprintf("  %8.4f  %8.4f", ngram.Bigram, ngram.Unigram)
	}
	if !r.tabled {
		r.tabled = true
		fmt.Fprintf(r.out, "%*s  %8s  %10s%s  %9s  %8s\n",
			width, "step", "training", "validation", head, "grad norm", "tokens/s")
	}
	loss, rate := r.history.Recent()
	last := r.history.Steps[len(r.history.Steps)-1]
	fmt.Fprintf(r.out, "%*d  %8.4f  %10.4f%s  %9.3f  %8.0f\n", width, e.Step, loss, e.Loss, values, last.GradNorm, rate)
}

// printVerdict prints the result of the last validation in words.
func (r *training) printVerdict(steps int, took time.Duration) {
	fmt.Fprintf(r.out, "\n%d steps in %.1f s.", steps, took.Seconds())
	defer fmt.Fprintln(r.out)
	if len(r.history.Evaluations) == 0 {
		fmt.Fprint(r.out, " There was no validation.")
		return
	}
	last, what := r.history.Evaluations[len(r.history.Evaluations)-1], "The last validation loss"
	if r.last != nil {
		const whole = " The validations above are over %d random batches;\nthe loss of the whole validation text is %.4f."
		fmt.Fprintf(r.out, whole, r.config.EvalBatches, r.last.Loss)
		last, what = *r.last, "It"
	}
	switch ngram := r.corpus.NGram; {
	case ngram == nil: // the loss has already been printed
	case last.Loss < ngram.Bigram:
		const learnt = " %s is %.4f below the bigram's: so\nmuch has the attention learnt from the %s before the last one."
		fmt.Fprintf(r.out, learnt, what, ngram.Bigram-last.Loss, r.corpus.Unit())
	default:
		const nothing = " %s is not below the bigram's: the\nattention has not yet learnt from the %s before the last one."
		fmt.Fprintf(r.out, nothing, what, r.corpus.Unit())
	}
}

// mostShown is the maximum number of parameters with a row in a report. Of a larger model it shows the first and the
// last few.
const (
	mostShown = 40
	lastShown = 4
)

// shownParams returns the names of the parameters that a report shows, and the number of those left out before the
// last few.
func (r *training) shownParams() (names []string, left int) {
	for name := range r.model.Params().All() {
		names = append(names, name)
	}
	if n := len(names); n > mostShown {
		left = n - mostShown
		names = append(names[:mostShown-lastShown:mostShown-lastShown], names[n-lastShown:]...)
	}
	return names, left
}

// snapshot copies the parameters that the report shows.
func (r *training) snapshot() map[string]*tensor.Dense {
	s := map[string]*tensor.Dense{}
	names, _ := r.shownParams()
	for _, name := range names {
		v, _ := r.model.Params().Get(name)
		s[name] = v.Clone().(*tensor.Dense)
	}
	return s
}

// printUpdates shows how far training moved each parameter, and a corner of the
// query weights before and after.
func (r *training) printUpdates(before map[string]*tensor.Dense) {
	names, left := r.shownParams()
	width, corner := len("parameter"), names[0] // if the layer has no weights of its own
	for _, name := range slices.Backward(names) {
		width = max(width, len(name))
		if strings.Contains(name, r.model.Queries()) {
			corner = name
		}
	}
	since := ""
	if r.begin > 0 {
		since = fmt.Sprintf(" since step %d", r.begin)
	}
	fmt.Fprintf(r.out, "\nHow far training moved the weights%s (Euclidean norms):\n\n%-*s  %12s  %9s  %9s  %9s\n",
		since, width, "parameter", "shape", "before", "after", "change")
	for i, name := range names {
		if left > 0 && i == len(names)-lastShown {
			fmt.Fprintf(r.out, "… and %d more …\n", left)
		}
		after, _ := r.model.Params().Get(name)
		was, is, change := norms(before[name], after)
		fmt.Fprintf(r.out, "%-*s  %12s  %9.4f  %9.4f  %9.4f\n", width, name, fmt.Sprint(after.Shape()), was, is, change)
	}
	after, _ := r.model.Params().Get(corner)
	fmt.Fprintf(r.out, "\nA corner of %s before:\n%s\nand after:\n%s\n",
		corner, cornerString(before[corner]), cornerString(after))
}

// cornerString prints the first three rows and four columns.
func cornerString(t *tensor.Dense) string {
	rows, cols := min(3, t.Shape()[0]), min(4, t.Shape()[1])
	var values []float64
	for r := range rows {
		values = append(values, tensorprint.Float64s(t)[r*t.Shape()[1]:][:cols]...)
	}
	return tensorprint.Format(values, []int{rows, cols})
}

// norms returns the Euclidean norms of two tensors of the same type and shape, and of their difference.
func norms(was, is *tensor.Dense) (before, after, change float64) {
	if is.Dtype() == tensor.Float32 {
		return normsOf(was.Float32s(), is.Float32s())
	}
	return normsOf(was.Float64s(), is.Float64s())
}

func normsOf[F float32 | float64](was, is []F) (before, after, change float64) {
	for i := range is {
		b, a := float64(was[i]), float64(is[i])
		before, after, change = before+b*b, after+a*a, change+(a-b)*(a-b)
	}
	return math.Sqrt(before), math.Sqrt(after), math.Sqrt(change)
}

// cacheBytes returns the memory of the keys and values of a whole text.
func cacheBytes(c layers.GPTConfig, dt tensor.Dtype) int {
	heads := cmp.Or(c.NumKVHeads, c.NumHeads)
	return 2 * c.NumLayers * c.ContextLength * heads * (c.EmbedDim / c.NumHeads) * int(dt.Size())
}
