package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// history is what a run showed.
type history struct {
	steps       []train.Step
	evaluations []train.Evaluation
}

// evaluated is the number of steps before the last evaluation, or 0.
func (h history) evaluated() int {
	if len(h.evaluations) == 0 {
		return 0
	}
	return h.evaluations[len(h.evaluations)-1].Step
}

// recent is the mean loss of the last steps, and the rate they were taken at.
func (h history) recent() (loss, tokensPerSecond float64) {
	steps := h.steps[max(0, len(h.steps)-recentSteps):]
	seconds := 0.0 // per token
	for _, s := range steps {
		loss += s.Loss / float64(len(steps))
		seconds += 1 / s.TokensPerSecond / float64(len(steps))
	}
	return loss, 1 / seconds
}

// recentSteps is how many steps a training loss is a mean over.
const recentSteps = 50

// printHead says what is going to be trained.
func (r *trainRun) printHead() {
	c, config := r.corpus, r.config
	training, solver := config.Training, config.Training.Solver
	fmt.Fprintf(r.out, "text      %s: %d characters, and %d for validation; %d distinct\n",
		config.Text.Name, len(c.training), len(c.validation), c.vocabulary.Len())
	fmt.Fprintf(r.out, "model     %v, %s: %d parameters\n", r.model, config.Dtype, r.params.Count())
	if config.Init != nil {
		fmt.Fprintf(r.out, "          begins with the weights of %s\n", config.Init.Name)
	}
	fmt.Fprintf(r.out, "training  %d steps of %d windows of %d characters\n",
		training.Steps, config.Batch*max(training.Accumulate, 1), r.model.context())
	if !r.model.causal() {
		fmt.Fprintln(r.out, "          the layer sees the whole window: only the character after it is asked for")
	}
	fmt.Fprintf(r.out, "solver    %s, learning rate %v", solver.Name, training.Schedule.Cosine.Peak)
	for _, f := range []struct {
		name  string
		value float64
	}{{"momentum", solver.Momentum}, {"weight decay", solver.WeightDecay}, {"gradient norm at most", training.ClipNorm}} {
		if f.value > 0 {
			fmt.Fprintf(r.out, ", %s %v", f.name, f.value)
		}
	}
	fmt.Fprintln(r.out)
	fmt.Fprintf(r.out, "folder    %s\n", r.folder.path)
	if r.begin > 0 {
		fmt.Fprintf(r.out, "          goes on after %d steps\n", r.begin)
	}
	fmt.Fprintln(r.out)
}

// printEvaluation prints one line of the table of losses.
func (r *trainRun) printEvaluation(e train.Evaluation) {
	width := max(len("step"), len(fmt.Sprint(r.config.Training.Steps)))
	if !r.tabled {
		r.tabled = true
		fmt.Fprintf(r.out, "%*s  %8s  %10s  %8s  %8s  %9s  %8s\n",
			width, "step", "training", "validation", "bigram", "unigram", "grad norm", "tokens/s")
	}
	loss, rate := r.history.recent()
	last, ngram := r.history.steps[len(r.history.steps)-1], r.corpus.ngram
	fmt.Fprintf(r.out, "%*d  %8.4f  %10.4f  %8.4f  %8.4f  %9.3f  %8.0f\n",
		width, e.Step, loss, e.Loss, ngram.Bigram, ngram.Unigram, last.GradNorm, rate)
}

// printVerdict says in words what the last validation showed.
func (r *trainRun) printVerdict(steps int, took time.Duration) {
	fmt.Fprintf(r.out, "\n%d steps in %.1f s. ", steps, took.Seconds())
	if len(r.history.evaluations) == 0 {
		fmt.Fprintln(r.out, "There was no validation.")
		return
	}
	loss, bigram := r.history.evaluations[len(r.history.evaluations)-1].Loss, r.corpus.ngram.Bigram
	if loss < bigram {
		fmt.Fprintf(r.out, "The last validation loss is %.4f below the bigram's: so\nmuch has the attention learnt from the characters before the last one.\n", bigram-loss)
		return
	}
	fmt.Fprintf(r.out, "The last validation loss is not below the bigram's: the\nattention has not yet learnt from the characters before the last one.\n")
}

// snapshot copies every parameter.
func snapshot(p *layers.Params) map[string]*tensor.Dense {
	s := map[string]*tensor.Dense{}
	for name, v := range p.All() {
		s[name] = v.Clone().(*tensor.Dense)
	}
	return s
}

// printUpdates shows how far training moved each parameter, and a corner of the
// query weights before and after.
func (r *trainRun) printUpdates(before map[string]*tensor.Dense) {
	width, corner := len("parameter"), ""
	for name := range r.params.All() {
		width = max(width, len(name))
		if corner == "" && strings.Contains(name, "W_query") {
			corner = name
		}
	}
	since := ""
	if r.begin > 0 {
		since = fmt.Sprintf(" since step %d", r.begin)
	}
	fmt.Fprintf(r.out, "\nHow far training moved the weights%s (Euclidean norms):\n\n%-*s  %12s  %9s  %9s  %9s\n",
		since, width, "parameter", "shape", "before", "after", "change")
	for name, after := range r.params.All() {
		was, is := float64s(before[name]), float64s(after)
		change := make([]float64, len(is))
		for i := range is {
			change[i] = is[i] - was[i]
		}
		fmt.Fprintf(r.out, "%-*s  %12s  %9.4f  %9.4f  %9.4f\n", width, name, fmt.Sprint(after.Shape()), norm(was), norm(is), norm(change))
	}
	if corner == "" {
		corner = "tokens.weight" // the layer has no weights of its own
	}
	after, _ := r.params.Get(corner)
	fmt.Fprintf(r.out, "\nA corner of %s before:\n%s\nand after:\n%s\n", corner, cornerString(before[corner]), cornerString(after))
}

// cornerString prints the first three rows and four columns.
func cornerString(t *tensor.Dense) string {
	rows, cols := min(3, t.Shape()[0]), min(4, t.Shape()[1])
	var values []float64
	for r := range rows {
		values = append(values, float64s(t)[r*t.Shape()[1]:][:cols]...)
	}
	return torchString(values, []int{rows, cols})
}

// float64s are a tensor's values.
func float64s(t *tensor.Dense) []float64 {
	switch d := t.Data().(type) {
	case []float64:
		return d
	case []float32:
		v := make([]float64, len(d))
		for i, x := range d {
			v[i] = float64(x)
		}
		return v
	case float32: // one element
		return []float64{float64(d)}
	case float64:
		return []float64{d}
	}
	return nil
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
