package session

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/metrics"
	"attention/train/record"
)

// Plan is the part of a session that differs between kinds of runs: a model, its sources of batches, and the functions
// that print them.
type Plan struct {
	Command     string            // that trains and resumes such runs
	CommandLine string            // of this session
	Config      any               // config.json
	Files       map[string][]byte // beside it, by their names
	About       map[string]string // values of config.json without which the weights mean nothing
	Params      *layers.Params    // of the model
	Init        func() error      // reads the initial weights; nil if Params have them
	Loss        train.Loss        // of the model
	Training    train.Config      // without what the session sets: its group and its hooks
	Checkpoints checkpoint.Config // when the run saves
	Source      train.Resumable   // to learn from
	Validation  train.Source      // of the evaluations during training
	EvalBatches int               // random ones of Validation; 0 if it is the whole
	Whole       train.Source      // of the evaluation at the end, if Validation is a part
	Record      record.Config     // what is recorded of the weights
	Title       string            // the model's name in pictures
	Drawn       string            // pattern of the recorded attention weights to draw
	Text, Model string            // for the report
	Counted     Losses            // of counting tokens
	Facts       []string          // names and values in turns, in which the processes must agree before all others
	Page        Page              // that shows the run; nil for none

	PrintHead       func()                 // what is trained
	PrintEvaluation func(train.Evaluation) // a line of the table of losses
	Hints           Hints
}

// Hints are the parts of error messages that name a command's flags.
type Hints struct {
	NotFinite  string                  // what may help against a loss that is not finite
	StartAgain func(dir string) string // how to begin a run without checkpoints anew; nil if it is not known
}

// Page shows a run while it trains.
type Page interface {
	URL() string
	Show(ctx context.Context) error // begins to show the run, which has its folder
	Between()                       // gives the page the weights between two steps
	Rest()                          // called when training is over: the weights change no more
}

// noPage is the Page of a run without one.
type noPage struct{}

func (noPage) URL() string                { return "" }
func (noPage) Show(context.Context) error { return nil }
func (noPage) Between()                   {}
func (noPage) Rest()                      {}

// Session is the life of a run in one process: it begins or resumes the run, trains, saves and reports.
type Session struct {
	Plan
	Processes
	Loop     *train.Loop
	restored *checkpoint.Restored // nil without a checkpoint
	Folder   *Folder              // nil in a process that does not lead
	Kernels  program.Kernels
	Report   Report
	History  metrics.History
	From     int               // steps before the session
	Last     *train.Evaluation // of the whole validation data, if evaluations during training saw parts of it
	Best     int               // step of the model, with Training.KeepBest; 0 before the first evaluation
	Early    bool              // whether the run ended by Training.Patience
	Progress *term.Progress
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
	s.Loop, err = train.New(p.Params, p.Loss, *c)
	return s, err
}

// metricsNote is the key of the history's digest among the notes of a checkpoint.
const metricsNote = "metrics"

func (s *Session) onStep(r train.StepResult) {
	s.History.Steps = append(s.History.Steps, r)
	s.Folder.Metrics.AddStep(r)
	s.Progress.Step(r.Loss)
	s.Page.Between()
}

func (s *Session) onEval(e train.Evaluation) {
	s.History.Evaluations = append(s.History.Evaluations, e)
	s.Folder.Metrics.AddEvaluation(e, s.EvalBatches)
	s.Progress.Clear()
	s.PrintEvaluation(e)
}

// mendMetrics writes metrics.jsonl anew if it was removed or changed during the run.
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

// PrintFiles prints the files of the folder, with these pictures.
func (s *Session) PrintFiles(pictures ...string) {
	files := []string{"model.safetensors,", "config.json,", "report.json,", "metrics.jsonl,", "watch.jsonl,",
		"watch.safetensors,"}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		files = append(files, name+",")
	}
	for _, name := range pictures {
		files = append(files, name+",")
	}
	fmt.Fprintf(s.Out, "In %s:\n%s", s.Folder.Path, term.Fill("  ", append(files, "checkpoints")...))
}
