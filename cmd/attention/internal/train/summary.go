package train

import (
	"fmt"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
)

// printSummary prints the losses of the model and of the models that count tokens, and a sentence that compares them.
func (r *training) printSummary() {
	l := r.Losses()
	fmt.Fprintf(r.Out, "\n%s in %.1f s; losses in nats per %s:\n",
		settings.Count(r.Loop.Steps()-r.From, "step"), r.Report.Session().Seconds, strings.TrimSuffix(r.corpus.Unit(), "s"))
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
	r.PrintBest()
	if r.Last != nil {
		fmt.Fprintf(r.Out, "That of validation is over the whole text, those above over %d random batches.\n",
			r.config.EvalBatches)
	}
	switch {
	case l.Validation == nil:
		fmt.Fprintln(r.Out, "There was no validation.")
	case l.Bigram == nil: // there is no loss to compare with
	case *l.Validation < *l.Bigram:
		fmt.Fprintf(r.Out, "The validation loss is %.4f below the bigram's: so much has the attention\n"+
			"learnt from the %s before the last one.\n", *l.Bigram-*l.Validation, r.corpus.Unit())
	default:
		fmt.Fprintf(r.Out, "The validation loss is not below the bigram's: the attention has not yet learnt\n"+
			"from the %s before the last one.\n", r.corpus.Unit())
	}
}

// end returns what is printed at last.
func (r *training) end() session.End {
	pictures := []string{session.LossPicture, session.WeightsPicture}
	if probedTokens(r.config.Model) > 0 {
		pictures = append(pictures, session.StepsPicture)
	}
	if _, ok := r.model.Network.(settings.AttentionNetwork); ok {
		pictures = append(pictures, session.AttentionPicture)
	}
	return session.End{Pictures: pictures, Next: "To continue your own text, and to see where the model attends",
		Commands: []string{program.Command("generate", "--model", r.Folder.Path) + " --prompt TEXT",
			program.Command("view", "--model", r.Folder.Path)}}
}
