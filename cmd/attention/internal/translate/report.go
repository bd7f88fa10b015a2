package translate

import (
	"fmt"
	"time"

	"attention/cmd/attention/internal/dates"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/train"
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
func (r *translation) printHead(kernels program.Kernels) {
	s := r.Settings
	fmt.Fprintf(r.out, "dates     %s\n", r.text())
	fmt.Fprintf(r.out, "model     %s: %d parameters\n", r, r.Params.Count())
	fmt.Fprintf(r.out, "training  %d steps of %d dates\n", s.Training.Steps, s.Batch)
	fmt.Fprint(r.out, term.Fill("kernels   ", kernels.Phrases("float32")...))
	fmt.Fprintf(r.out, "folder    %s\n", r.folder.Path)
	if n := r.loop.Steps(); n > 0 {
		fmt.Fprintf(r.out, "          continues after %d steps\n", n)
	}
	fmt.Fprintln(r.out)
}

// printEvaluation prints one line of the table of losses.
func (r *translation) printEvaluation(e train.Evaluation) {
	loss, _ := r.history.Recent()
	if !r.tabled {
		r.tabled = true
		fmt.Fprintf(r.out, "%6s  %8s  %8s\n", "step", "training", "held out")
	}
	fmt.Fprintf(r.out, "%6d  %8.4f  %8.4f\n", e.Step, loss, e.Loss)
}

// printFiles prints what the run folder holds, and how to use the model.
func (r *translation) printFiles() {
	files := []string{"model.safetensors,", "config.json,", "report.json,", "metrics.jsonl,", "watch.jsonl,",
		"watch.safetensors,", "weights.png,", "attention-steps.png,"}
	if r.options.picture() == "" {
		files = append(files, "attention.png,")
	}
	fmt.Fprintf(r.out, "\nIn %s:\n%sTo translate a date of yours:\n  %s --date \"6 august 1963\"\n", r.folder.Path,
		term.Fill("  ", append(files, "checkpoints")...), program.Command("translate", "--model", r.folder.Path))
}

// printVerdict prints how many held-out dates were translated right, and examples.
func (r *translation) printVerdict(got []string, translated time.Duration) {
	var wrong, right []int
	for i, p := range r.heldOut.Pairs {
		if got[i] == p.ISO {
			right = append(right, i)
		} else {
			wrong = append(wrong, i)
		}
	}
	exact, s := float64(len(right))/float64(len(got)), r.report.Session()
	r.report.ExactMatch = &exact
	fmt.Fprintf(r.out, "\n%d steps in %.1f s. Of the held-out dates, translated in %.1f s, %d of %d\n"+
		"are right to the last character: %.2f %% exact match.\n\n",
		r.Steps-s.From, s.Seconds, translated.Seconds(), len(right), len(got), 100*exact)
	wrong = wrong[:min(len(wrong), max(shownWrong, shownPairs-len(right)))]
	for _, i := range right[:min(len(right), shownPairs-len(wrong))] {
		fmt.Fprintf(r.out, "%-*s  %s\n", dates.WrittenLength, r.heldOut.Pairs[i].Written, got[i])
	}
	for _, i := range wrong {
		p := r.heldOut.Pairs[i]
		fmt.Fprintf(r.out, "%-*s  %s, want %s\n", dates.WrittenLength, p.Written, got[i], p.ISO)
	}
}
