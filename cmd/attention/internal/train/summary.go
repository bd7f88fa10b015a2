package train

import (
	"fmt"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
)

// printSummary prints what remains on the screen: the losses of the model and of counting, and what they mean.
func (r *training) printSummary() {
	l := r.Losses()
	fmt.Fprintf(r.Out, "\n%d steps in %.1f s; losses in nats per %s:\n",
		r.Loop.Steps()-r.From, r.Report.Session().Seconds, strings.TrimSuffix(r.corpus.Unit(), "s"))
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
	fmt.Fprintf(r.Out, "%s\n%s\n", head, values)
	r.printBest()
	if r.Last != nil {
		fmt.Fprintf(r.Out, "That of validation is over the whole text, those above over %d random batches.\n",
			r.config.EvalBatches)
	}
	switch {
	case l.Validation == nil:
		fmt.Fprintln(r.Out, "There was no validation.")
	case l.Bigram == nil: // nothing to compare with
	case *l.Validation < *l.Bigram:
		fmt.Fprintf(r.Out, "The validation loss is %.4f below the bigram's: so much has the attention\n"+
			"learnt from the %s before the last one.\n", *l.Bigram-*l.Validation, r.corpus.Unit())
	default:
		fmt.Fprintf(r.Out, "The validation loss is not below the bigram's: the attention has not yet learnt\n"+
			"from the %s before the last one.\n", r.corpus.Unit())
	}
}

// printBest prints which step the model is from, with --best, and why the run ended early, with --patience.
func (r *training) printBest() {
	c := r.config.Training
	if r.Best > 0 {
		fmt.Fprintf(r.Out, "The model is that of step %d, which has the lowest validation loss.\n", r.Best)
	}
	if r.Early {
		lower := "lower"
		if c.MinDelta > 0 {
			lower = fmt.Sprintf("lower by %v", c.MinDelta)
		}
		fmt.Fprint(r.Out, term.Fill("", fmt.Sprintf("The run ended after %d of %d steps:", r.Loop.Steps(), c.Steps),
			fmt.Sprintf("the last %d validations were not %s.", c.Patience, lower)))
	}
}

// printFiles prints the files of the folder.
func (r *training) printFiles() {
	pictures := []string{session.LossPicture, session.WeightsPicture}
	if probedTokens(r.config.Model) > 0 {
		pictures = append(pictures, session.StepsPicture)
	}
	if _, ok := r.model.Network.(run.AttentionNetwork); ok {
		pictures = append(pictures, session.AttentionPicture)
	}
	r.PrintFiles(pictures...)
}
