package translate

import (
	"fmt"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train/loop"
	"attention/train/tasks/dates"
)

const (
	shownPairs = 8
	shownWrong = 4 // at most
)

// text describes the dates.
func (r *translation) text() string {
	return fmt.Sprintf("%d to %d in %d styles: %d to learn from, %d held out",
		dates.FirstYear, dates.LastYear, len(dates.Styles()), len(r.training.Dates), len(r.heldOut.Pairs))
}

// printHead prints the sizes of the data and the model.
func (r *translation) printHead() {
	o := r.options
	r.Print("dates", r.text())
	r.Print("model", fmt.Sprintf("%s: %d parameters", o.Model.Dates, r.Params.Count()))
	r.Print("training", fmt.Sprintf("%s of %s", settings.Count(o.Training.Steps, "step"), settings.Count(o.Batch, "date")))
}

// printEvaluation prints one line of the table of losses.
func (r *translation) printEvaluation(e loop.Evaluation) {
	loss, _ := r.History.Recent()
	r.Table.Row(r.Out, e.Step, loss, e.Loss)
}

// end returns what is printed at last.
func (r *translation) end() session.End {
	pictures := []string{session.WeightsPicture, session.StepsPicture}
	if r.options.text("picture") == "" {
		pictures = append(pictures, session.AttentionPicture)
	}
	return session.End{Pictures: pictures, Next: "To translate your own date",
		Commands: []string{program.Command("translate", "--model", r.Folder.Path) + ` --date "6 august 1963"`}}
}

// printVerdict prints the number of correctly translated held-out dates, and examples.
func (r *translation) printVerdict(got []string, translated time.Duration) {
	var wrong, right []int
	for i, p := range r.heldOut.Pairs {
		if got[i] == p.ISO {
			right = append(right, i)
		} else {
			wrong = append(wrong, i)
		}
	}
	exact, s := float64(len(right))/float64(len(got)), r.Report.Session()
	r.Report.ExactMatch = &exact
	fmt.Fprintf(r.Out, "\n%d steps in %.1f s. Of the held-out dates, translated in %.1f s, %d of %d\n"+
		"are right to the last character: %.2f %% exact match.\n\n",
		r.Loop.Steps()-r.From, s.Seconds, translated.Seconds(), len(right), len(got), 100*exact)
	wrong = wrong[:min(len(wrong), max(shownWrong, shownPairs-len(right)))]
	for _, i := range right[:min(len(right), shownPairs-len(wrong))] {
		fmt.Fprintf(r.Out, "%-*s  %s\n", dates.WrittenLength, r.heldOut.Pairs[i].Written, got[i])
	}
	for _, i := range wrong {
		p := r.heldOut.Pairs[i]
		fmt.Fprintf(r.Out, "%-*s  %s, want %s\n", dates.WrittenLength, p.Written, got[i], p.ISO)
	}
}
