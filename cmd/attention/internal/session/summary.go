package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/metrics"
)

// Summary describes a run by the files in its folder.
type Summary struct {
	Folder  string     `json:"folder"`
	Begin   *time.Time `json:"begin,omitempty"` // nil without report.json, like the following fields
	Seconds *float64   `json:"seconds,omitempty"`
	State   string     `json:"state"`
	Steps   int        `json:"steps"`
	Planned int        `json:"planned_steps"`
	Title   string     `json:"-"` // of the model
	Command string     `json:"-"` // command that made the run: train, finetune or translate
	Report
}

// Running is the state of a run whose last session is unfinished and holds the folder.
const Running = "running"

// Summarize reads the summary of a run folder. For a session that did not end, or a run without report.json, it reads
// the steps and losses from metrics.jsonl.
func Summarize(dir string) (Summary, error) {
	in, err := models.Inspect(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{}, fmt.Errorf("%s: got no %s, want the folder of a run", dir, settings.ConfigFile)
	}
	if err != nil {
		return Summary{}, err
	}
	if !in.IsRun() {
		return Summary{}, in.ErrNoRun()
	}
	s := Summary{Folder: dir, Planned: in.Planned, Title: in.Config.Model.Title(), Command: "train"}
	switch {
	case in.Config.Tuning != nil:
		s.Command = "finetune"
	case s.Title == settings.DatesModel:
		s.Command = "translate"
	}
	if s.Report, err = ReadReport(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Text, s.Model = cmp.Or(s.Text, in.Config.Text.Name), cmp.Or(s.Model, in.Config.Model.String())
	s.State = s.Report.stateIn(dir)
	seconds := 0.0
	for _, session := range s.Sessions {
		seconds += session.Seconds
		s.Begin, s.Seconds, s.Steps = &s.Sessions[0].Begin, &seconds, session.To
	}
	if s.State == unfinished || s.State == Running {
		return s, s.complete(in)
	}
	return s, nil
}

// complete fills in what the report of a run does not hold while it trains, after it was killed, or without a report.
func (s *Summary) complete(in *models.Inspection) error {
	h, err := metrics.Read(in.Dir)
	if err != nil {
		return err
	}
	s.Best, s.Steps, s.Losses = 0, len(h.Steps), lossesOf(h)
	if n := in.Config.NGram; n != nil {
		s.Losses.Bigram, s.Losses.Unigram = &n.Bigram, &n.Unigram
	}
	n := len(s.Sessions)
	switch {
	case n == 0 && s.State != Running && !in.Unfinished() && s.Steps > 0 && s.Steps == s.Planned:
		s.State = Finished
	case n > 0 && s.State == Running:
		*s.Seconds += max(0, program.Since(s.Sessions[n-1].Begin).Seconds())
	case n == 1:
		s.Seconds = nil // when it was killed is not known
	}
	return nil
}
