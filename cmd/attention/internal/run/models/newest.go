package models

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/folder"
)

// Runs is the folder of runs without a name of their own.
const Runs = "runs"

// Newest returns the folder of the run in Runs that was begun or resumed last, of those whose model is of one of these
// kinds, has weights and is accepted (nil accepts all). It notes which one it is. If all are refused, the error is that
// about one of them.
func Newest(notes io.Writer, accept func(*Inspection) error, kinds ...string) (dir string, err error) {
	names, _ := folder.Names(Runs) // a folder that is not there has no runs
	var newest time.Time
	var refused error
	for _, name := range names {
		path := filepath.Join(Runs, name)
		began, err := os.Stat(filepath.Join(path, settings.ConfigFile))
		if err != nil || began.ModTime().Before(newest) {
			continue
		}
		in, err := Inspect(path)
		if err != nil || !slices.Contains(kinds, in.Kind) || in.metadata == nil && len(in.Checkpoints) == 0 {
			continue
		}
		if accept != nil {
			if err := accept(in); err != nil {
				refused = err
				continue
			}
		}
		dir, newest = path, began.ModTime()
	}
	if dir == "" && refused != nil {
		return "", refused
	}
	if dir == "" {
		return "", fmt.Errorf("missing, want the folder of a model: %s has none to take; %s makes one", Runs,
			program.Command("train"))
	}
	fmt.Fprintf(notes, "attention: --model: the newest run, %s\n", program.Shell(dir))
	return dir, nil
}
