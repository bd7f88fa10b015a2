package run

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/internal/config"
	"attention/internal/folder"

	"github.com/spf13/pflag"
)

// ReportFile is the file of a run folder that tells what happened and when. No other file holds a date, so that those
// of equal runs are equal.
const ReportFile = "report.json"

// Report is report.json.
type Report struct {
	Model      string    `json:"model"`
	Parameters int       `json:"parameters,omitempty"`
	Losses     Losses    `json:"losses"`
	Sessions   []Session `json:"sessions,omitempty"` // in their order: one, and one for each time that it was resumed
}

// Losses are in nats per token. Nil ones are unknown, or those of counting with a large vocabulary.
type Losses struct {
	Training   *float64 `json:"training,omitempty"`   // mean of the last steps
	Validation *float64 `json:"validation,omitempty"` // the last one, on the whole validation text if it was computed
	Bigram     *float64 `json:"bigram,omitempty"`
	Unigram    *float64 `json:"unigram,omitempty"`
	Uniform    *float64 `json:"uniform,omitempty"` // of all tokens being equally likely
}

// Sample is the text that a session draws at its end.
type Sample struct {
	Prompt string `json:"prompt"`
	Text   string `json:"text"`
}

// Session is the training of one process.
type Session struct {
	Begin   time.Time `json:"begin"`
	End     time.Time `json:"end"`
	State   string    `json:"state"`
	Error   string    `json:"error,omitempty"`
	Program string    `json:"program"` // version
	Command string    `json:"command"`
	From    int       `json:"from_step"`
	To      int       `json:"to_step"`
	Seconds float64   `json:"seconds"` // of training and validation
	Sample  *Sample   `json:"sample,omitempty"`
}

// The states in which a session ends.
const (
	Finished = "finished"
	Stopped  = "stopped" // by a signal, with a checkpoint
	Failed   = "failed"
)

// Write writes report.json to the folder.
func (r Report) Write(f *Folder) error {
	return f.Write(ReportFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	})
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
	return r, nil
}

// CommandLine returns the command line that gave a set of flags, as a shell reads it.
func CommandLine(command string, set *pflag.FlagSet) string {
	words := []string{"attention", command}
	set.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		} else {
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return program.Shell(words...)
}
