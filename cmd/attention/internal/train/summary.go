package train

import (
	"fmt"
	"math"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
)

// writeReport ends the session in report.json with an error or nil.
func (r *training) writeReport(err error) error {
	r.report.Best, r.report.Losses = r.best, r.losses()
	return r.report.End(r.folder, r.loop.Steps(), err)
}

// losses returns the last losses, up to the step of the model, beside those of counting.
func (r *training) losses() run.Losses {
	h := r.history
	if r.best > 0 {
		h = h.Until(r.best)
	}
	l, uniform := h.Losses(), math.Log(float64(r.corpus.Tokenizer.Len()))
	l.Uniform = &uniform
	if ngram := r.corpus.NGram; ngram != nil {
		l.Bigram, l.Unigram = &ngram.Bigram, &ngram.Unigram
	}
	if r.last != nil {
		l.Validation = &r.last.Loss
	}
	return l
}

// printSummary prints what remains on the screen: the losses beside those of counting, and what they mean.
func (r *training) printSummary() {
	l := r.losses()
	fmt.Fprintf(r.out, "\n%d steps in %.1f s; losses in nats per %s:\n",
		r.loop.Steps()-r.begin, r.report.Session().Seconds, strings.TrimSuffix(r.corpus.Unit(), "s"))
	head, values := "", ""
	for _, column := range []struct {
		name  string
		value *float64
	}{
		{name: "training", value: l.Training}, {name: "validation", value: l.Validation},
		{name: "bigram", value: l.Bigram}, {name: "unigram", value: l.Unigram}, {name: "uniform", value: l.Uniform},
	} {
		if column.value != nil {
			head += fmt.Sprintf("%12s", column.name)
			values += fmt.Sprintf("%12.4f", *column.value)
		}
	}
	fmt.Fprintf(r.out, "%s\n%s\n", head, values)
	r.printBest()
	if r.last != nil {
		fmt.Fprintf(r.out, "That of validation is over the whole text, those above over %d random batches.\n",
			r.config.EvalBatches)
	}
	switch {
	case l.Validation == nil:
		fmt.Fprintln(r.out, "There was no validation.")
	case l.Bigram == nil: // nothing to compare with
	case *l.Validation < *l.Bigram:
		fmt.Fprintf(r.out, "The validation loss is %.4f below the bigram's: so much has the attention\n"+
			"learnt from the %s before the last one.\n", *l.Bigram-*l.Validation, r.corpus.Unit())
	default:
		fmt.Fprintf(r.out, "The validation loss is not below the bigram's: the attention has not yet learnt\n"+
			"from the %s before the last one.\n", r.corpus.Unit())
	}
}

// printBest prints which step the model is from, with --best, and why the run ended early, with --patience.
func (r *training) printBest() {
	c := r.config.Training
	if r.best > 0 {
		fmt.Fprintf(r.out, "The model is that of step %d, which has the lowest validation loss.\n", r.best)
	}
	if r.early {
		lower := "lower"
		if c.MinDelta > 0 {
			lower = fmt.Sprintf("lower by %v", c.MinDelta)
		}
		fmt.Fprint(r.out, term.Fill("", fmt.Sprintf("The run ended after %d of %d steps:", r.loop.Steps(), c.Steps),
			fmt.Sprintf("the last %d validations were not %s.", c.Patience, lower)))
	}
}

// printFiles prints the files of the folder.
func (r *training) printFiles() {
	files := []string{"model.safetensors,", "config.json,", "report.json,", "metrics.jsonl,", "watch.jsonl,",
		"watch.safetensors,", "loss.png,", "weights.png,"}
	if r.model.ProbeTokens() > 0 {
		files = append(files, "attention-steps.png,")
	}
	if _, ok := r.model.Network.(run.Watchable); ok {
		files = append(files, "attention.png,")
	}
	fmt.Fprintf(r.out, "In %s:\n%s", r.folder.Path, term.Fill("  ", append(files, "checkpoints")...))
}
