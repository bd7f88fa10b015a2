package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/train"
)

// Summary is what a run folder tells about its run.
type Summary struct {
	Folder  string     `json:"folder"`
	Begin   *time.Time `json:"begin,omitempty"` // nil without report.json, as are those that follow
	Seconds *float64   `json:"seconds,omitempty"`
	State   string     `json:"state"`
	Steps   int        `json:"steps"`
	Planned int        `json:"planned_steps"`
	Text    string     `json:"text"`
	Title   string     `json:"-"` // of the model
	Report
}

// unfinished is the state of a run whose last session was killed, or has not ended.
const unfinished = "unfinished"

// Summarize reads the summary of a run folder: that of a session that did not end, or of a program without
// report.json, from metrics.jsonl.
func Summarize(dir string) (Summary, error) {
	path := filepath.Join(dir, ConfigFile)
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{}, fmt.Errorf("%s: got no %s, want the folder of a run", dir, ConfigFile)
	}
	if err != nil {
		return Summary{}, err
	}
	c, err := ParseConfig(text)
	if err == nil {
		err = c.ValidateModel()
	}
	if errors.Is(err, ErrNoRun) {
		return Summary{}, fmt.Errorf("%s: %w", dir, err)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	s := Summary{Folder: dir, Planned: c.Training.Steps, Text: c.Text.Name, Title: c.Model.Title()}
	if s.Report, err = ReadReport(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	return s, s.complete(dir, c)
}

// complete fills in what follows from the sessions, and what another session or an older program left out.
func (s *Summary) complete(dir string, c Config) error {
	seconds, newest := 0.0, 0
	for _, session := range s.Sessions {
		seconds += session.Seconds
		s.Begin, s.Seconds, s.State, s.Steps = &s.Sessions[0].Begin, &seconds, session.State, session.To
	}
	if all, err := train.CheckpointSteps(filepath.Join(dir, CheckpointsFolder)); err == nil && len(all) > 0 {
		newest = all[len(all)-1]
	}
	if s.Begin != nil && newest <= s.Steps {
		return nil
	}
	var err error
	if s.Steps, s.Losses, err = readLosses(dir); err != nil {
		return err
	}
	s.State = unfinished
	if s.Begin == nil && len(Unfinished(dir)) == 0 && s.Steps > 0 && s.Steps == s.Planned {
		s.State = Finished
	}
	s.Model = c.Model.String()
	if n := c.NGram; n != nil {
		s.Losses.Bigram, s.Losses.Unigram = &n.Bigram, &n.Unigram
	}
	if s.Parameters == 0 {
		s.Parameters = countParameters(filepath.Join(dir, ModelFile))
	}
	return nil
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
