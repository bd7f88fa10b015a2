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
	r.report.Losses = r.losses()
	return r.report.End(r.folder, r.loop.Steps(), err)
}

// losses returns the last losses beside those of counting.
func (r *training) losses() run.Losses {
	l, uniform := r.history.Losses(), math.Log(float64(r.corpus.Tokenizer.Len()))
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

// printFiles prints the files of the folder.
func (r *training) printFiles() {
	files := []string{"model.safetensors,", "config.json,", "report.json,", "metrics.jsonl,", "loss.png,"}
	if _, ok := r.model.Network.(run.Watchable); ok {
		files = append(files, "attention.png,")
	}
	fmt.Fprintf(r.out, "In %s:\n%s", r.folder.Path, term.Fill("  ", append(files, "checkpoints")...))
}
