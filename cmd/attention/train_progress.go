package main

import (
	"fmt"
	"io"
	"os"

	"attention/train"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// history is what a run showed.
type history struct {
	steps       []train.Step
	evaluations []train.Evaluation
}

// recent is the mean loss of the last steps, and the rate they were taken at.
func (h *history) recent() (loss, tokensPerSecond float64) {
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

// progress shows a run as it goes: a line for every evaluation, and between them
// a bar where a person watches.
type progress struct {
	w      io.Writer
	bar    *progressbar.ProgressBar // nil when piped
	steps  int
	headed bool
}

func newProgress(w io.Writer, steps int) *progress {
	p := &progress{w: w, steps: steps}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
	}
	return p
}

func (p *progress) step(s train.Step) {
	if p.bar == nil {
		return
	}
	p.bar.Describe(fmt.Sprintf("loss %.3f  %.0f tokens/s", s.Loss, s.TokensPerSecond))
	_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop a run
}

// evaluation prints one line of the table of losses.
func (p *progress) evaluation(e train.Evaluation, h history, ngram train.NGram) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	if !p.headed {
		p.headed = true
		fmt.Fprintf(p.w, "%9s  %8s  %10s  %8s  %8s  %9s  %9s\n",
			"step", "training", "validation", "bigram", "unigram", "grad norm", "tokens/s")
	}
	loss, rate := h.recent()
	fmt.Fprintf(p.w, "%4d/%-4d  %8.4f  %10.4f  %8.4f  %8.4f  %9.3f  %9.0f\n", e.Step, p.steps,
		loss, e.Loss, ngram.Bigram, ngram.Unigram, h.steps[len(h.steps)-1].GradNorm, rate)
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
