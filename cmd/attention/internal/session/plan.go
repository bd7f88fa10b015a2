package session

import (
	"context"
	"io"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/internal/simd"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/record"

	"github.com/spf13/pflag"
)

// Plan is the part of a session that differs between kinds of runs: a model, its sources of batches, and the functions
// that print them.
type Plan struct {
	Command     string            // command that trains and resumes such runs
	CommandLine string            // of this session
	Config      any               // config.json
	Files       map[string][]byte // beside it, by their names
	About       map[string]string // values of config.json without which the weights have no meaning
	Params      *layers.Params    // of the model
	Init        func() error      // reads the initial weights; nil if Params have them
	Loss        layers.Formula    // of the model
	Training    loop.Config       // without group and hooks, which the session sets
	Checkpoints checkpoint.Config // when the run saves
	Source      train.Resumable   // to learn from
	Validation  train.Source      // of the evaluations during training
	EvalBatches int               // number of random batches of Validation; 0 if it is the whole
	Whole       train.Source      // source of the evaluation at the end, if Validation is only a part
	Record      record.Config     // what is recorded of the weights
	Title       string            // the model's name in pictures
	Drawn       string            // pattern of the recorded attention weights to draw
	Text, Model string            // for the report
	Counted     Losses            // of counting tokens
	Facts       []string          // names and values in turns, in which the processes must agree first
	Page        Page              // page that shows the run; nil for none

	PrintTimeLeft   bool                  // called once, after three steps
	PrintHead       func()                // what is trained
	PrintEvaluation func(loop.Evaluation) // a row of Table, and more
	Table           term.Table            // of losses
	End             func() End            // called last
	KeepsStopped    bool                  // whether a run that a signal stopped has a model
	Hints           Hints
}

// Hints are the parts of error messages that name a command's flags.
type Hints struct {
	NotFinite  string                  // advice about a loss that is not finite
	StartAgain func(dir string) string // how to start a run without checkpoints again; nil if unknown
}

// Page shows a run while it trains.
type Page interface {
	URL() string
	Show(ctx context.Context, s *Session) error // begins to show the run, which has its folder
	Between()                                   // passes the weights to the page between two steps
	TrainingDone()                              // called when training is over and the weights no longer change
}

// noPage is the Page of a run without one.
type noPage struct{}

func (noPage) URL() string                          { return "" }
func (noPage) Show(context.Context, *Session) error { return nil }
func (noPage) Between()                             {}
func (noPage) TrainingDone()                        {}

// PlanOf returns the part of a plan that the config of a run determines. command trains such runs of a model with these
// parameters, and has the flags of attention train.
func PlanOf(command string, c settings.Config, of *layers.Params) (p Plan, err error) {
	p = Plan{Command: command, Config: c, Params: of, Training: c.Training, Checkpoints: c.Checkpoints,
		EvalBatches: c.EvalBatches, Title: c.Model.Title(), Drawn: "*", Text: c.Text.Name, Model: c.Model.String(),
		Hints: Hints{NotFinite: "a smaller --lr may help"}}
	if p.About, err = c.ModelIdentity(); err != nil {
		return p, err
	}
	if p.Training.About, err = c.Identity(); err != nil {
		return p, err
	}
	if p.Training.Precision, err = c.ProductPrecision(); err != nil {
		return p, err
	}
	p.Training.CheckpointBlocks = c.CheckpointActivations
	return p, flags.CheckPrecision(p.Training.Precision, p.Params.Dtype())
}

// ResumedConfig returns the config of the run in a folder, which a command resumes, with the values of its flags.
func ResumedConfig(dir, command string, flags *pflag.FlagSet, notes io.Writer) (settings.Config, error) {
	c, err := models.ReadConfig(dir, command)
	if err != nil {
		return c, err
	}
	began := c.Precision
	if err := c.Resume(flags); err != nil {
		return c, err
	}
	if c.Precision == began {
		keepPrecision(c, notes)
	}
	return c, nil
}

// keepPrecision allows a run that began in bfloat16 to resume in it on every processor, and prints the cost.
func keepPrecision(c settings.Config, notes io.Writer) {
	taken, why := simd.ChoiceOfBF16()
	if c.Precision != graph.BFloat16.String() || taken {
		return
	}
	if simd.TakeBF16(); simd.CheckBF16() == nil { // BF16Variable may be wrong
		program.Note(notes, "--resume: bf16: %s: the run goes on in it all the same", why)
	}
}
