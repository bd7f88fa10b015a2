package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/folder"
	"attention/train/metrics"
	"attention/train/record"
)

// lost returns a line about each file that the run resumes without.
func (f *Folder) lost(steps int) (lines []string) {
	for _, file := range []struct{ name, what string }{
		{name: ReportFile, what: "what it says of the earlier sessions is lost"},
		{name: record.LinesFile, what: "how the weights moved until then is lost"},
		{name: record.TensorsFile, what: "the attention weights and matrices of that time are lost"},
	} {
		if !f.dir.Has(file.name) {
			lines = append(lines, fmt.Sprintf("%s: got none, want that of the first %d steps: %s",
				f.dir.Path(file.name), steps, file.what))
		}
	}
	return lines
}

// withoutLines adds to an error about lines that are missing in metrics.jsonl from which older checkpoint the run can
// resume, or that it cannot.
func (s *Session) withoutLines(steps int, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok { // it cannot be opened
		return err
	}
	h, _ := metrics.Read(s.Folder.Path) // up to the first line that is wrong
	saved, _ := s.Folder.Checkpoints.Steps()
	for _, n := range slices.Backward(saved) {
		if n < steps && n <= len(h.Steps) {
			path := s.Folder.Checkpoints.Path(n)
			return fmt.Errorf("%w; resume from the last checkpoint whose lines are there with: %s", err,
				s.ResumeCommand(path))
		}
	}
	err = fmt.Errorf("%w; without them the run does not resume", err)
	if again := s.Hints.StartAgain; again != nil {
		err = fmt.Errorf("%w; start again with %s", err, again(s.Folder.Path))
	}
	return err
}

// CheckConfig returns an error if config.json was removed or cut off since the run began, and writes the file again:
// without it the model is useless.
func (f *Folder) CheckConfig() error {
	got, how := "none", "removed"
	text, err := f.readConfig()
	switch {
	case err == nil && json.Valid(text):
		return nil
	case err == nil:
		got, how = fmt.Sprintf("%d bytes that are no JSON", len(text)), "cut"
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("train: %w", err)
	}
	if err := f.WriteConfig(f.config); err != nil {
		return err
	}
	return fmt.Errorf("train: %s: got %s, want the one that the run began with: it was %s and is written anew",
		f.dir.Path(settings.ConfigFile), got, how)
}

func (f *Folder) readConfig() ([]byte, error) {
	file, err := f.dir.Open(settings.ConfigFile, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return folder.ReadAll(file, folder.MaxConfig)
}
