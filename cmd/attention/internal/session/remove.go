package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/train/checkpoint"
	"attention/train/metrics"
	"attention/train/record"
)

// Doomed is the folder of a run that is to be removed. No other process can resume the run meanwhile.
type Doomed struct {
	runs *folder.Dir
	name string // in runs
	held *Folder
}

// Doom locks the run with a name in a folder of runs for removal. A run in progress is an error, as is a folder with
// anything in it that a run does not write.
func Doom(runs, name string) (*Doomed, error) {
	path := filepath.Join(runs, name)
	if err := checkRemovable(path); err != nil {
		return nil, err
	}
	held, err := OpenFolder(path, checkpoint.Config{Keep: 1})
	if errors.Is(err, checkpoint.ErrInUse) {
		return nil, fmt.Errorf("%s: got a run in progress, want one that is not: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	root, err := folder.Enter(runs)
	if err != nil {
		return nil, oneline.Join(err, held.Close())
	}
	return &Doomed{root, name, held}, nil
}

// checkRemovable returns an error for a path that is not the folder of a run with the files of a run only.
func checkRemovable(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s: got no folder, want that of a run", path)
	}
	in, err := models.Inspect(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: got no %s, want the folder of a run", path, settings.ConfigFile)
	}
	if err != nil {
		return err
	}
	if !in.IsRun() {
		return in.ErrNoRun()
	}
	names, err := folder.Names(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !isOwn(name) {
			return fmt.Errorf("%s: got %s in it, want only files of the run: move it away first", path, name)
		}
	}
	checkpoints, _ := folder.Names(filepath.Join(path, settings.CheckpointsFolder)) // there may be none
	for _, name := range checkpoints {
		if !isOwnCheckpoint(name) {
			return fmt.Errorf("%s: got %s in it, want only files of the run: move it away first", path,
				filepath.Join(settings.CheckpointsFolder, name))
		}
	}
	return nil
}

func isOwn(name string) bool {
	return written(name) || slices.Contains([]string{metrics.FileName, record.LinesFile, settings.CheckpointsFolder},
		name) ||
		folder.IsLeftover(name, written)
}

func isOwnCheckpoint(name string) bool {
	return checkpoint.IsName(name) || folder.IsLeftover(name, checkpoint.IsName)
}

// Remove removes the files of the run and its folder. config.json is the last file that it removes, so that after an
// error the remaining files are still a run. It never follows a link.
func (d *Doomed) Remove() error {
	if err := oneline.Join(d.removeFiles(), d.held.Close()); err != nil {
		return oneline.Join(err, d.runs.Close())
	}
	return oneline.Join(d.removeFolders(), d.runs.Close())
}

// Keep unlocks a run that is not removed.
func (d *Doomed) Keep() error { return oneline.Join(d.held.Close(), d.runs.Close()) }

func (d *Doomed) removeFiles() error {
	checkpoints, err := folder.Names(d.held.dir.Path(settings.CheckpointsFolder))
	if err != nil {
		return err
	}
	for _, name := range checkpoints {
		if checkpoint.IsName(name) {
			if err := d.remove(settings.CheckpointsFolder, name); err != nil {
				return err
			}
		}
	}
	names, err := d.held.dir.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if isOwn(name) && name != settings.CheckpointsFolder && name != settings.ConfigFile {
			if err := d.remove(name); err != nil {
				return err
			}
		}
	}
	return d.remove(settings.ConfigFile)
}

// removeFolders removes the lock, which nobody holds any more, and the folders, which are empty.
func (d *Doomed) removeFolders() error {
	left, err := folder.Names(filepath.Join(d.runs.Path(d.name), settings.CheckpointsFolder))
	if err != nil {
		return err
	}
	for _, name := range left {
		if folder.IsLeftover(name, checkpoint.IsName) {
			if err := d.remove(settings.CheckpointsFolder, name); err != nil {
				return err
			}
		}
	}
	if err := d.remove(settings.CheckpointsFolder); err != nil {
		return err
	}
	return d.remove()
}

// remove removes a file or an empty folder of the run.
func (d *Doomed) remove(path ...string) error {
	return d.runs.Remove(filepath.Join(append([]string{d.name}, path...)...))
}
