package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/config"
)

// CheckpointsConfig says when Run saves and how much of it stays.
type CheckpointsConfig struct {
	Every int `json:"every"` // steps between two checkpoints; 0 means only when Run ends or is stopped
	Keep  int `json:"keep"`  // the newest ones that stay; 0 means 2
}

// Validate returns an error for the first field that makes no sense.
func (c CheckpointsConfig) Validate() error {
	return config.AtLeast(c, 0, "Every", "Keep")
}

// Checkpoints is a folder with the checkpoints of one run, named by the steps taken.
// It is for one process at a time.
type Checkpoints struct {
	folder string
	config CheckpointsConfig
	lock   *os.File
	last   int // steps of the one that was last saved or restored; -1 before
}

const (
	checkpointName = "step-%08d.safetensors"
	lockName       = "lock"
)

// OpenCheckpoints makes the folder if it is not there, locks it until Close or the
// end of the process, and removes what a process that was killed had not finished
// writing. A folder that another process holds is an error that wraps ErrInUse.
func OpenCheckpoints(folder string, c CheckpointsConfig) (*Checkpoints, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	lock, err := lockFile(filepath.Join(folder, lockName))
	if err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	cs := &Checkpoints{folder: folder, config: c, lock: lock, last: -1}
	if err := cs.removeParts(); err != nil {
		return nil, errors.Join(err, cs.Close())
	}
	return cs, nil
}

// Close lets other processes have the folder.
func (c *Checkpoints) Close() error { return c.lock.Close() }

// due reports whether a run of a number of steps saves after this many of them.
func (c *Checkpoints) due(taken, steps int) bool {
	every := c.config.Every
	return taken > 0 && (taken == steps || every > 0 && taken%every == 0)
}

// has reports whether the checkpoint after this many steps was the last one saved or restored.
func (c *Checkpoints) has(taken int) bool { return c.last == taken }

// removeParts removes checkpoints that were never finished.
func (c *Checkpoints) removeParts() error {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return fmt.Errorf("train: checkpoints: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partPrefix) {
			if err := os.Remove(filepath.Join(c.folder, e.Name())); err != nil {
				return fmt.Errorf("train: checkpoints: %w", err)
			}
		}
	}
	return nil
}

// Path returns where the checkpoint after n steps is, or would be.
func (c *Checkpoints) Path(n int) string {
	return filepath.Join(c.folder, fmt.Sprintf(checkpointName, n))
}

// Steps returns the numbers of steps after which there are checkpoints, ascending.
func (c *Checkpoints) Steps() ([]int, error) {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	var all []int
	for _, e := range entries {
		var steps int
		if _, err := fmt.Sscanf(e.Name(), checkpointName, &steps); err == nil && e.Name() == filepath.Base(c.Path(steps)) && e.Type().IsRegular() {
			all = append(all, steps)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Save saves a checkpoint of the loop and the source of its batches as Loop.Save does,
// and then removes all but the newest ones. Checkpoints after more steps than the
// loop has taken are of a course that it has left, and are removed too.
func (c *Checkpoints) Save(l *Loop, source Resumable) error {
	if err := l.Save(c.Path(l.Steps()), source); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(c.folder)); err != nil { // the folder's own name
		return fmt.Errorf("train: checkpoints: %w", err)
	}
	c.last = l.Steps()
	all, err := c.Steps()
	if err != nil {
		return err
	}
	keep := c.config.Keep
	if keep == 0 {
		keep = 2
	}
	own := slices.Index(all, l.Steps())
	for i, steps := range all {
		if i <= own-keep || i > own {
			if err := os.Remove(c.Path(steps)); err != nil {
				return fmt.Errorf("train: checkpoints: %w", err)
			}
		}
	}
	return nil
}

// Restore restores the loop and the source of its batches from the newest checkpoint
// as Loop.Restore does, and reports whether there is one. If that is damaged, the error
// is a DamagedError, which names an older one that is not; nothing is restored then.
func (c *Checkpoints) Restore(l *Loop, source Resumable) (found bool, err error) {
	all, err := c.Steps()
	if err != nil || len(all) == 0 {
		return false, err
	}
	slices.Reverse(all)
	err = l.Restore(c.Path(all[0]), source)
	if errors.Is(err, ErrDamaged) {
		return false, &DamagedError{Err: err, Intact: c.newestIntact(all[1:])}
	}
	if err != nil {
		return false, err
	}
	c.last = l.Steps()
	return true, nil
}

// newestIntact returns the path of the first intact one of these checkpoints, or "".
func (c *Checkpoints) newestIntact(all []int) string {
	for _, steps := range all {
		if _, err := readSealed(c.Path(steps)); err == nil {
			return c.Path(steps)
		}
	}
	return ""
}

// DamagedError is the error for a folder whose newest checkpoint is damaged.
type DamagedError struct {
	Err    error  // names the file and wraps ErrDamaged
	Intact string // path of the newest intact checkpoint, for Loop.Restore; "" if there is none
}

// Error says which checkpoint is damaged and which one is not.
func (e *DamagedError) Error() string {
	if e.Intact == "" {
		return e.Err.Error() + "; there is no other intact checkpoint"
	}
	return e.Err.Error() + "; the newest intact checkpoint is " + e.Intact
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }
