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

// Runs is the folder of runs to which nobody gave a name.
const Runs = "runs"

// Newest returns the run folder in Runs that was begun or resumed last, among those whose model is of one of these
// kinds, has weights and is accepted (nil accepts all). It prints a note that names the run. If all are refused, it
// returns the error about one of them.
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
	program.Note(notes, "--model: the newest run, %s", program.Shell(dir))
	return dir, nil
}

// Name returns the name of a run's folder without its path, for a picture.
func Name(dir string) string {
	path, err := filepath.Abs(dir) // "." has a name too
	if err != nil {
		path = dir
	}
	return filepath.Base(path)
}

// ErrKind returns the error about a folder with a run or a model of another kind than a command needs. It names the
// command for that kind.
func (in *Inspection) ErrKind(want string) error {
	switch in.Kind {
	case settings.DatesModel:
		return fmt.Errorf("%s: got a run of attention translate, want %s; this one is for: %s", in.Dir, want,
			program.Command("translate", "--model", in.Dir, "--date", "8/6/63"))
	case settings.EncoderModel:
		return fmt.Errorf("%s: got a run of attention finetune of an encoder, want %s; this one is for: %s", in.Dir, want,
			program.Command("embed", "--model", in.Dir, "--text-file", "FILE", "--json"))
	case settings.LayerModel:
		return fmt.Errorf("%s: got a run of attention train of one layer, want %s; this one is for: %s", in.Dir, want,
			program.Command("generate", "--model", in.Dir, "--prompt", "TEXT"))
	case settings.GPTModel, settings.DecoderModel:
		return fmt.Errorf("%s: got a run of attention train, want %s; this one is for: %s", in.Dir, want,
			program.Command("generate", "--model", in.Dir, "--prompt", "TEXT"))
	}
	return fmt.Errorf("%s: got a model that is no run's, want %s; this one is for: %s", in.Dir, want,
		program.Command("generate", "--model", in.Dir, "--prompt", "TEXT"))
}
