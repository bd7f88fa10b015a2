package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/config"
	"attention/internal/folder"
	"attention/train/encoders"
	"attention/train/metrics"
)

// ReportFile is the file of a run folder with the events of the run and their dates. No other file holds a date, so
// that equal runs have equal files.
const ReportFile = "report.json"

// Report is report.json.
type Report struct {
	Text       string          `json:"text"` // training data: its file, or a description
	Model      string          `json:"model"`
	Parameters int             `json:"parameters,omitempty"`
	Frozen     int             `json:"frozen,omitempty"`      // of the parameters
	Best       int             `json:"best_step,omitempty"`   // the step of the model's weights; 0 for the last one
	Losses     Losses          `json:"losses"`                // of the model, with --best
	ExactMatch *float64        `json:"exact_match,omitempty"` // share of the held-out dates that are right
	Sessions   []SessionReport `json:"sessions,omitempty"`    // in this order: one for each process

	// Measures of an encoder on held-out examples, for the base and for the model.
	Before []encoders.Measure `json:"before,omitempty"`
	After  []encoders.Measure `json:"after,omitempty"`
}

// Losses are losses in nats per token. A loss is nil if it is unknown; with a large vocabulary the two of counting are.
type Losses struct {
	Training   *float64 `json:"training,omitempty"`   // mean of the last steps
	Validation *float64 `json:"validation,omitempty"` // the last one, on the whole validation text if it was computed
	Bigram     *float64 `json:"bigram,omitempty"`
	Unigram    *float64 `json:"unigram,omitempty"`
	Uniform    *float64 `json:"uniform,omitempty"` // loss if all tokens were equally likely
}

// lossesOf returns the last losses of a history.
func lossesOf(h metrics.History) (l Losses) {
	if len(h.Steps) > 0 {
		mean, _ := h.Recent()
		l.Training = &mean
	}
	if n := len(h.Evaluations); n > 0 {
		l.Validation = &h.Evaluations[n-1].Loss
	}
	return l
}

// Sample is the text that a session draws at its end: a continuation of the prompt, or a translation of it.
type Sample struct {
	Prompt string `json:"prompt"`
	Text   string `json:"text"`
}

// SessionReport is the training of one process.
type SessionReport struct {
	Begin   time.Time `json:"begin"`
	End     time.Time `json:"end,omitzero"`
	State   string    `json:"state"`
	Error   string    `json:"error,omitempty"`
	Program string    `json:"program"`           // version
	Kernels string    `json:"kernels,omitempty"` // the peak of the kernels, and the faster ones that do not run
	Command string    `json:"command"`
	From    int       `json:"from_step"`
	To      int       `json:"to_step"`
	Seconds float64   `json:"seconds"` // of training and validation
	Sample  *Sample   `json:"sample,omitempty"`
}

// The states of a session.
const (
	Finished   = "finished"
	Stopped    = "stopped" // stopped by a signal, with a checkpoint
	Failed     = "failed"
	unfinished = "unfinished" // still training, or killed
)

// Begin adds a session to the report and writes it. The session stays unfinished in the report until End.
func (r *Report) Begin(f *Folder, s SessionReport) error {
	s.Begin, s.State, s.Program, s.To = s.Begin.Round(time.Second), unfinished, program.Version(), s.From
	r.Sessions = append(r.Sessions, s)
	return f.writeJSON(ReportFile, r)
}

// Session returns the last session.
func (r *Report) Session() *SessionReport { return &r.Sessions[len(r.Sessions)-1] }

// End writes the report of the last session, which ended after n steps with an error or nil.
func (r *Report) End(f *Folder, n int, err error) error {
	s := r.Session()
	s.End, s.To, s.State = program.Now().Round(time.Second), n, Finished
	switch {
	case term.IsInterrupted(err):
		s.State = Stopped
	case err != nil:
		s.State, s.Error = Failed, term.OneLine(err)
	}
	return f.writeJSON(ReportFile, r)
}

// ReadReport reads the report.json of a folder. The error for a folder without one is fs.ErrNotExist.
func ReadReport(dir string) (r Report, err error) {
	path := filepath.Join(dir, ReportFile)
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		return r, err
	}
	if err := config.Foreign.Decode(text, &r); err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	if err := r.validate(); err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	return r, nil
}

// StateOf returns the state of a run folder by its report and its lock, and the error that the last session ended with.
func StateOf(dir string) (state, wrong string, r Report, err error) {
	if r, err = ReadReport(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", r, err
	}
	if len(r.Sessions) > 0 {
		wrong = r.Session().Error
	}
	return r.stateIn(dir), wrong, r, nil
}

// stateIn returns the state of the run in a folder.
func (r *Report) stateIn(dir string) string {
	switch {
	case len(r.Sessions) > 0 && r.Session().State != unfinished:
		return r.Session().State
	case folder.Locked(filepath.Join(dir, settings.CheckpointsFolder)):
		return Running
	}
	return unfinished
}

// ResumeReport reads the report of a run that resumes; the report may be missing.
func ResumeReport(f *Folder) (Report, error) {
	r, err := ReadReport(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%w; without this file the run resumes too", err)
	}
	return r, nil
}

// validate returns an error for the first value that no run writes.
func (r Report) validate() error {
	if err := config.AtLeast(r, 0, "Parameters"); err != nil {
		return err
	}
	const centuries = 1e10 // in seconds
	for i, s := range r.Sessions {
		err := cmp.Or(
			config.OneOf(s, "State", s.State, Finished, Stopped, Failed, unfinished),
			config.AtLeast(s, 0, "From", "To", "Seconds"),
			config.AtMost(s, centuries, "Seconds"))
		if err != nil {
			return config.In(r, fmt.Sprintf("Sessions[%d]", i), err)
		}
	}
	return nil
}
