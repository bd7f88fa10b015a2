package finetune

import (
	"cmp"
	"fmt"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/train"
	"attention/train/loop"
	"attention/train/metrics"
	"attention/train/text"
)

// adapters describes the trained parts of the model.
func (r *tuning) adapters() string {
	l, ok := r.params().LoRA()
	if !ok {
		return ", trained whole"
	}
	return fmt.Sprintf(", adapters of rank %d", l.Rank)
}

// printHead prints the base, the trained parameters, the examples and the training.
func (r *tuning) printHead() {
	c, p := r.config, r.params()
	r.Print("base", term.Line(c.Tuning.Base.Name)+":", c.Model.String()+",", c.Dtype)
	trained := p.Count() - p.CountFrozen()
	r.Print("trained", fmt.Sprintf("%d parameters,", trained), fmt.Sprintf("%d are frozen", p.CountFrozen()))
	phrases := r.data()
	r.Print("data", append([]string{term.Line(c.Text.Name) + ":"}, phrases[0]...)...)
	if a, ok := r.task.(*answering); ok && !a.base.Model.Config().SharesRows() {
		r.Print("", "each example has a row of its own: this attention depends on where in a row a text begins")
	}
	if len(phrases) > 1 {
		r.Print("held out", append([]string{term.Line(c.Tuning.Valid.Name) + ":"}, phrases[1]...)...)
	}
	if phrases := r.unread(); phrases != nil {
		r.Print("not read", phrases...)
	}
	examples, batches := r.epoch()
	r.Print("training", fmt.Sprintf("%s of %s,", settings.Count(c.Training.Steps, "step"), r.rows()),
		fmt.Sprintf("%.1f epochs,", float64(c.Training.Steps*max(c.Training.Accumulate, 1))/float64(batches)),
		fmt.Sprintf("learning rate %.2g at most", c.Training.Schedule.Schedule.(train.CosineLR).Peak))
	if examples < fewExamples {
		r.Print("", fmt.Sprintf("%s: too few to learn from; the model will repeat them and learn little else",
			settings.Count(examples, "example")))
	}
	r.printMemory()
	r.printDisk()
}

// fewExamples is the number of examples below which a model learns little except the examples themselves.
const fewExamples = 10

// printDisk prints the sizes of the files that the run will write. A checkpoint has the trained parameters, the
// solver's two moments, the parameters at the beginning and at the last record, and with --best the best parameters.
func (r *tuning) printDisk() {
	trained := 0
	for name, v := range r.Params.All() {
		if !r.Params.Frozen(name) {
			trained += int(v.MemSize())
		}
	}
	each := 5 * trained
	if r.config.Training.KeepBest {
		each += trained
	}
	kept := r.config.Checkpoints.Keep
	r.Print("disk", fmt.Sprintf("%d checkpoints of %.1f MB at most,", kept, float64(each)/1e6),
		fmt.Sprintf("weights %.1f MB: %.1f MB together", float64(trained)/1e6, float64(kept*each+trained)/1e6))
}

// garbage is the GC percentage of a run (see debug.SetGCPercent).
const garbage = 10

// printMemory prints the memory that the process will take. To the loop's memory it adds the memory that the process
// uses now: the program, the tokenizer, the graphs' nodes and the model's answers, with the garbage that Go allows for
// them.
func (r *tuning) printMemory() {
	m, mapped := r.Loop.Memory(), 0
	for _, v := range r.Params.All() {
		if v.IsManuallyManaged() { // it is mapped from a file
			mapped += int(v.MemSize())
		}
	}
	held, files := program.Memory(".safetensors")
	all := held + held*garbage/100 + files + mapped
	beside := all - m.Weights - m.Gradients - m.Solver - m.Graphs
	r.PrintMemory(fmt.Sprintf(", program %.1f MB: %.1f MB together", float64(beside)/1e6, float64(all)/1e6))
}

// dataPhrases describes examples and their rows.
func dataPhrases(s text.PackSummary) []string {
	phrases := []string{fmt.Sprintf("%s,", settings.Count(s.Examples, "example")),
		fmt.Sprintf("%d tokens, of which %d are learned,", s.Tokens, s.Learned),
		fmt.Sprintf("in %s, %.0f %% full", settings.Count(s.Rows, "row"), 100*s.Fill)}
	for _, more := range []struct {
		n    int
		what string
	}{{s.Cut, "cut to a row"}, {s.Skipped, "longer than a row and left out"},
		{s.NothingLeft, "left out because nothing to learn was left"},
		{s.Unlearned, "with answers that are not learned, because the template leaves out parts of them"}} {
		if more.n > 0 {
			phrases[len(phrases)-1] += ";"
			phrases = append(phrases, fmt.Sprintf("%d %s", more.n, more.what))
		}
	}
	return phrases
}

// printEvaluation prints a line of the table of losses, and answers.
func (r *tuning) printEvaluation(e loop.Evaluation) {
	loss, rate := r.History.Recent()
	r.Table.Row(r.Out, e.Step, loss, e.Loss, rate)
	if err := r.printNow(r.ctx); err != nil && r.ctx.Err() == nil {
		fmt.Fprintf(r.Out, "        no answers: %v\n", err)
	}
}

// printSummary prints the losses of the run.
func (r *tuning) printSummary() {
	l, s := r.Losses(), r.Report.Session()
	fmt.Fprintf(r.Out, "\n%s in %.1f s", settings.Count(r.Loop.Steps()-r.From, "step"), s.Seconds)
	if l.Training != nil {
		fmt.Fprintf(r.Out, "; loss of the last %s %.4f nats a %s",
			settings.Count(min(metrics.RecentSteps, cmp.Or(r.Best, len(r.History.Steps))), "step"), *l.Training, r.unit())
	}
	if l.Validation != nil {
		fmt.Fprintf(r.Out, ", held out %.4f", *l.Validation)
	}
	fmt.Fprintln(r.Out, ".")
	r.PrintBest()
}

// end returns the last lines that a run prints.
func (r *tuning) end() session.End {
	use, command := r.use()
	whole := "the model"
	if _, ok := r.params().LoRA(); ok {
		whole = "one model of base and adapters"
	}
	return session.End{Pictures: []string{session.WeightsPicture}, Next: use + ", and to write " + whole +
		" for other programs", Commands: []string{command,
		program.Command("export", "--model", r.Folder.Path, "--format", "huggingface", "--out", "DIR")}}
}
