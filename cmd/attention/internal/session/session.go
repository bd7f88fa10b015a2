package session

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/metrics"
)

// Session is the life of a run in one process: it begins or resumes the run, trains, saves and reports.
type Session struct {
	Plan
	Processes
	Loop     *loop.Loop
	restored *checkpoint.Restored // nil without a checkpoint
	Folder   *Folder              // nil in a process that does not lead
	Kernels  program.Kernels
	Report   Report
	History  metrics.History
	From     int              // steps before the session
	Last     *loop.Evaluation // of the whole validation data, if evaluations during training saw parts of it
	Best     int              // step of the model, with Training.KeepBest; 0 before the first evaluation
	Early    bool             // whether the run ended by Training.Patience
	Progress *term.Progress
	paced    time.Time // when the session's first step ended
	Out      *term.Output
}

// New makes the session of a plan without touching a file. It prints to w.
func New(w io.Writer, p Plan, of Processes) (*Session, error) {
	s := &Session{Plan: p, Processes: of, Out: term.NewOutput(w)}
	if s.Page == nil {
		s.Page = noPage{}
	}
	c := &s.Training
	if of.Size() > 1 {
		c.Group = of.Group
	}
	if s.Leads() {
		c.OnStep, c.OnEval = s.onStep, s.onEval
	}
	c.BeforeSave = func() (map[string]string, error) {
		s.mendMetrics()
		return map[string]string{metricsNote: s.History.Digest()}, s.Folder.Metrics.Flush()
	}
	var err error
	if s.Loop, err = loop.New(p.Params, p.Loss, *c); err != nil {
		return s, err
	}
	return s, s.Loop.Prepare(p.Source, p.Validation) // whose memory the head of the output counts
}

// metricsNote is the key of the history's digest in the notes of a checkpoint.
const metricsNote = "metrics"

func (s *Session) onStep(r train.StepResult) {
	s.History.Steps = append(s.History.Steps, r)
	s.Folder.Metrics.AddStep(r)
	s.Progress.Step(r.Loss)
	s.printTimeLeft()
	s.Page.Between()
}

// printTimeLeft prints, after the session's third step, the time of the remaining steps at the speed of the last two.
func (s *Session) printTimeLeft() {
	if !s.PrintTimeLeft {
		return
	}
	const paced = 3
	taken, left := s.Loop.Steps()-s.From, s.Training.Steps-s.Loop.Steps()
	if taken == 1 {
		s.paced = program.Now()
	}
	if taken != paced || left == 0 {
		return
	}
	s.Progress.Clear()
	validations := ""
	if s.Validation != nil {
		validations = ", and the validations"
	}
	about := roundTime(program.Since(s.paced) / (paced - 1) * time.Duration(left))
	fmt.Fprintf(s.Out, "%s left: about %s%s\n", settings.Count(left, "step"), about, validations)
}

// roundTime returns a time rounded up to seconds, tens of seconds, or minutes.
func roundTime(d time.Duration) string {
	unit := time.Second
	switch {
	case d > 10*time.Minute:
		unit = time.Minute
	case d > time.Minute:
		unit = 10 * time.Second
	}
	text := (d + unit - 1).Truncate(unit).String()
	if unit == time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

func (s *Session) onEval(e loop.Evaluation) {
	s.History.Evaluations = append(s.History.Evaluations, e)
	s.Folder.Metrics.AddEvaluation(e, s.EvalBatches)
	s.Progress.Clear()
	s.PrintEvaluation(e)
}

// mendMetrics writes metrics.jsonl again if it was removed or changed during the run.
func (s *Session) mendMetrics() {
	h := s.History
	if s.Last != nil {
		h.Evaluations = append(slices.Clip(h.Evaluations), *s.Last)
	}
	s.Folder.Metrics.Mend(h, s.EvalBatches)
}

// Losses returns the last losses, up to the step of the model, beside those of counting.
func (s *Session) Losses() Losses {
	h := s.History
	if s.Best > 0 {
		h = h.Until(s.Best)
	}
	l := lossesOf(h)
	l.Bigram, l.Unigram, l.Uniform = s.Counted.Bigram, s.Counted.Unigram, s.Counted.Uniform
	if s.Last != nil {
		l.Validation = &s.Last.Loss
	}
	return l
}

// Print prints phrases about a thing in the head of the output.
func (s *Session) Print(thing string, phrases ...string) {
	fmt.Fprint(s.Out, term.Fill(fmt.Sprintf("%-10s", thing), phrases...))
}

// PrintMemory prints the memory of the loop, and more.
func (s *Session) PrintMemory(more string) {
	const mega = 1e6
	m := s.Loop.Memory()
	text := fmt.Sprintf("weights %.1f MB, gradients %.1f MB, solver %.1f MB, graph %.1f MB", float64(m.Weights)/mega,
		float64(m.Gradients)/mega, float64(m.Solver)/mega, float64(m.Graphs)/mega)
	if text += more; s.Size() > 1 {
		text += " in each process"
	}
	s.Print("memory", strings.SplitAfter(text, ", ")...)
}

// printHead prints what is trained, and where.
func (s *Session) printHead() {
	s.PrintHead()
	s.Print("kernels", s.Kernels.Phrases(s.Params.Dtype().String())...)
	s.printProcesses()
	s.Print("folder", s.Folder.Path)
	if url := s.Page.URL(); url != "" {
		s.Print("page", url)
	}
	if s.From > 0 {
		s.Print("", fmt.Sprintf("continues after %d steps", s.From))
	}
	fmt.Fprintln(s.Out)
}

// PrintBest prints which step the model is from, with Training.KeepBest, and why the run ended early, with
// Training.Patience.
func (s *Session) PrintBest() {
	c := s.Training
	if s.Best > 0 {
		fmt.Fprintf(s.Out, "The model is that of step %d, which has the lowest validation loss.\n", s.Best)
	}
	if s.Early {
		lower := "lower"
		if c.MinDelta > 0 {
			lower = fmt.Sprintf("lower by %v", c.MinDelta)
		}
		fmt.Fprint(s.Out, term.Fill("", fmt.Sprintf("The run ended after %d of %d steps:", s.Loop.Steps(), c.Steps),
			fmt.Sprintf("the last %d validations were not %s.", c.Patience, lower)))
	}
}

// End is the last output of a run, after an empty line: its pictures among the files, and the next commands.
type End struct {
	Pictures []string
	Next     string
	Commands []string
}

// printEnd prints the files of the folder, and the end.
func (s *Session) printEnd() {
	end := s.Plan.End()
	files := []string{"model.safetensors,", "config.json,", "report.json,", "metrics.jsonl,", "watch.jsonl,",
		"watch.safetensors,"}
	for _, name := range append(slices.Sorted(maps.Keys(s.Files)), end.Pictures...) {
		files = append(files, name+",")
	}
	fmt.Fprintf(s.Out, "\nIn %s:\n%s%s:\n  %s\n", s.Folder.Path,
		term.Fill("  ", append(files, "checkpoints")...), end.Next, strings.Join(end.Commands, "\n  "))
}
