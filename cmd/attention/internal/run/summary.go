package run

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/internal/config"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/train"
	"attention/train/text"
)

// Summary is what a run folder tells about its run.
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
	path := filepath.Join(dir, ConfigFile)
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{}, fmt.Errorf("%s: got no %s, want the folder of a run", dir, ConfigFile)
	}
	if err != nil {
		return Summary{}, err
	}
	p, err := planOf(text)
	if errors.Is(err, ErrNoRun) {
		return Summary{}, fmt.Errorf("%s: %w", dir, err)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	s := Summary{Folder: dir, Planned: p.steps, Title: p.title}
	if s.Report, err = ReadReport(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Text, s.Model = cmp.Or(s.Text, p.text), cmp.Or(s.Model, p.model)
	return s, s.complete(dir, p)
}

// A plan is what a summary takes from config.json.
type plan struct {
	steps              int
	text, title, model string
	ngram              *text.NGram
}

// planOf returns the plan of a run of attention train or attention translate.
func planOf(contents []byte) (plan, error) {
	var dates struct {
		Model struct {
			Type string `json:"type"`
		} `json:"model"`
		Training struct {
			Steps int `json:"steps"`
		} `json:"training"`
	}
	if config.Foreign.Decode(contents, &dates) == nil && dates.Model.Type == DatesModel {
		return plan{steps: dates.Training.Steps, title: DatesModel, model: DatesModel}, nil
	}
	c, err := ParseConfig(contents)
	if err == nil {
		err = c.ValidateModel()
	}
	if err != nil {
		return plan{}, err
	}
	return plan{steps: c.Training.Steps, text: c.Text.Name, title: c.Model.Title(), model: c.Model.String(),
		ngram: c.NGram}, nil
}

// complete fills in what follows from the sessions, and what another session or an older program left out.
func (s *Summary) complete(dir string, p plan) error {
	seconds, newest := 0.0, 0
	for _, session := range s.Sessions {
		seconds += session.Seconds
		s.Begin, s.Seconds, s.State, s.Steps = &s.Sessions[0].Begin, &seconds, session.State, session.To
	}
	if all, err := train.CheckpointSteps(filepath.Join(dir, CheckpointsFolder)); err == nil && len(all) > 0 {
		newest = all[len(all)-1]
	}
	if s.Begin != nil && s.State != unfinished && newest <= s.Steps {
		return nil
	}
	var err error
	s.Best = 0
	if s.Steps, s.Losses, err = readLosses(dir); err != nil {
		return err
	}
	s.setState(dir)
	if n := p.ngram; n != nil {
		s.Losses.Bigram, s.Losses.Unigram = &n.Bigram, &n.Unigram
	}
	if s.Parameters == 0 {
		s.Parameters = countParameters(filepath.Join(dir, ModelFile))
	}
	return nil
}

// setState sets the state, and the duration, of a run whose last session did not end or has no report.
func (s *Summary) setState(dir string) {
	switch {
	case folder.Locked(filepath.Join(dir, CheckpointsFolder)):
		s.State = Running
	case s.Begin == nil && len(Unfinished(dir)) == 0 && s.Steps > 0 && s.Steps == s.Planned:
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

// readLosses returns the number of steps in a folder's metrics.jsonl and its last losses. A last line that was cut
// does not count.
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
	var recent History
	lines := bufio.NewScanner(f)
	for cut := error(nil); lines.Scan(); {
		if cut != nil {
			return 0, Losses{}, cut
		}
		var line metricLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			cut = fmt.Errorf("%s: line of step %d: got %.50q, want a JSON object", path, steps+1, lines.Bytes())
			continue
		}
		if line.ValidationLoss != nil {
			l.Validation = line.ValidationLoss
			continue
		}
		steps = line.Step
		recent.Steps = append(recent.Steps, train.StepResult{Loss: line.Loss})
		recent.Steps = recent.Steps[max(0, len(recent.Steps)-recentSteps):]
	}
	if steps > 0 {
		mean, _ := recent.Recent()
		l.Training = &mean
	}
	if err := lines.Err(); err != nil {
		return 0, Losses{}, fmt.Errorf("%s: %w", path, err)
	}
	return steps, l, nil
}
