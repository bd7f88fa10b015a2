package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/train/text"
)

// Summary is what the files of a run folder say about its run.
type Summary struct {
	Folder  string     `json:"folder"`
	Begin   *time.Time `json:"begin,omitempty"` // nil without report.json, as are those that follow
	Seconds *float64   `json:"seconds,omitempty"`
	State   string     `json:"state"`
	Steps   int        `json:"steps"`
	Planned int        `json:"planned_steps"`
	Title   string     `json:"-"` // of the model
	Report
}

// Running is the state of a run whose last session is unfinished and holds the folder.
const Running = "running"

// Summarize reads the summary of a run folder: the steps and losses of a session that did not end, or of a program
// without report.json, from metrics.jsonl.
func Summarize(dir string) (Summary, error) {
	in, err := run.Inspect(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{}, fmt.Errorf("%s: got no %s, want the folder of a run", dir, run.ConfigFile)
	}
	if err != nil {
		return Summary{}, err
	}
	if !in.IsRun() {
		return Summary{}, in.ErrNoRun()
	}
	p := planOf(in)
	s := Summary{Folder: dir, Planned: p.steps, Title: p.title}
	if s.Report, err = ReadReport(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Text, s.Model = cmp.Or(s.Text, p.text), cmp.Or(s.Model, p.model)
	return s, s.complete(in, p)
}

// A plan is what a summary takes from config.json.
type plan struct {
	steps              int
	text, title, model string
	ngram              *text.NGram
}

// planOf returns the plan of a run of attention train or attention translate.
func planOf(in *run.Inspection) plan {
	if in.Kind == run.DatesModel {
		return plan{steps: in.Planned, title: run.DatesModel, model: run.DatesModel}
	}
	c := in.Config
	return plan{steps: in.Planned, text: c.Text.Name, title: c.Model.Title(), model: c.Model.String(), ngram: c.NGram}
}

// complete fills in what follows from the sessions, and what the report leaves out, as when the run was killed.
func (s *Summary) complete(in *run.Inspection, p plan) error {
	dir := in.Dir
	seconds, newest := 0.0, 0
	for _, session := range s.Sessions {
		seconds += session.Seconds
		s.Begin, s.Seconds, s.State, s.Steps = &s.Sessions[0].Begin, &seconds, session.State, session.To
	}
	if len(in.Checkpoints) > 0 {
		newest = in.Checkpoints[len(in.Checkpoints)-1]
	}
	if s.Begin != nil && s.State != unfinished && newest <= s.Steps {
		return nil
	}
	var err error
	s.Best = 0
	if s.Steps, s.Losses, err = readLosses(dir); err != nil {
		return err
	}
	s.setState(in)
	if n := p.ngram; n != nil {
		s.Losses.Bigram, s.Losses.Unigram = &n.Bigram, &n.Unigram
	}
	if s.Parameters == 0 {
		s.Parameters = countParameters(filepath.Join(dir, run.ModelFile))
	}
	return nil
}

// setState sets the state, and the duration, of a run whose last session did not end or has no report.
func (s *Summary) setState(in *run.Inspection) {
	switch {
	case folder.Locked(filepath.Join(in.Dir, run.CheckpointsFolder)):
		s.State = Running
	case s.Begin == nil && !in.Unfinished() && s.Steps > 0 && s.Steps == s.Planned:
		s.State = Finished
	default:
		s.State = unfinished
	}
	n := len(s.Sessions)
	if n == 0 || s.Sessions[n-1].State != unfinished {
		return
	}
	switch {
	case s.State == Running:
		*s.Seconds += max(0, program.Since(s.Sessions[n-1].Begin).Seconds())
	case n == 1:
		s.Seconds = nil // when it was killed is not known
	}
}

// countParameters returns the number of elements in a safetensors file, or 0 if it cannot be opened.
func countParameters(path string) (n int) {
	f, err := safetensors.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for _, t := range f.Tensors() {
		size := 1
		for _, axis := range t.Shape {
			size *= axis
		}
		n += size
	}
	return n
}

// readLosses returns the number of steps in a folder's metrics.jsonl and its last losses.
func readLosses(dir string) (steps int, l Losses, err error) {
	path := filepath.Join(dir, MetricsFile)
	f, err := folder.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, l, nil
	}
	if err != nil {
		return 0, l, err
	}
	defer f.Close()
	h, err := readHistory(f)
	if err != nil {
		return 0, l, fmt.Errorf("%s: %w", path, err)
	}
	return len(h.Steps), h.Losses(), nil
}
