package train

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/safetensors"
)

// CheckpointsConfig sets when Run saves and how many checkpoints stay.
type CheckpointsConfig struct {
	Every int `json:"every"` // steps between two checkpoints; 0 means only when Run ends or is stopped
	Keep  int `json:"keep"`  // the newest ones that stay; 0 means 2
}

// Validate returns an error that names the first wrong field.
func (c CheckpointsConfig) Validate() error {
	return config.AtLeast(c, 0, "Every", "Keep")
}

// Checkpoints is a folder with the checkpoints of one run, named by the steps taken.
// It is for one process at a time.
type Checkpoints struct {
	dir    *folder.Dir
	config CheckpointsConfig
	lock   *os.File
	last   int // steps of the one that was last saved or restored; -1 before
}

// ErrInUse is wrapped by the error for a folder of checkpoints that another process
// holds.
var ErrInUse = folder.ErrInUse

// ErrDamaged is wrapped by the error for a checkpoint that was cut short or changed.
var ErrDamaged = safetensors.ErrDamaged

// OpenCheckpoints makes the folder if it does not exist, locks it until Close or the
// end of the process, and removes the checkpoints that a killed process was still
// writing. The error for a folder that another process holds wraps ErrInUse.
//
// The folder may be a link. The lock and the checkpoints in it must not: nothing
// outside the folder is written or removed.
func OpenCheckpoints(path string, c CheckpointsConfig) (*Checkpoints, error) {
	cs, err := openCheckpoints(path, c)
	if err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	return cs, nil
}

func openCheckpoints(path string, c CheckpointsConfig) (*Checkpoints, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	dir, err := folder.Make(path)
	if err != nil {
		return nil, err
	}
	lock, err := dir.Lock()
	if err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	if err := dir.RemoveIncomplete(IsCheckpoint); err != nil {
		return nil, oneline.Join(err, lock.Close(), dir.Close())
	}
	return &Checkpoints{dir: dir, config: c, lock: lock, last: -1}, nil
}

// Close lets other processes have the folder.
func (c *Checkpoints) Close() error {
	if err := c.made(); err != nil {
		return err
	}
	return oneline.Join(c.lock.Close(), c.dir.Close())
}

// made refuses a folder that OpenCheckpoints did not open.
func (c *Checkpoints) made() error {
	if c == nil || c.lock == nil {
		return errors.New("train: checkpoints: got nil or its zero value, want one of OpenCheckpoints")
	}
	return nil
}

// every returns the number of steps between two checkpoints; 0 means only the last one.
func (c *Checkpoints) every() int { return c.config.Every }

// newest returns the steps of the checkpoint that was last saved or restored; -1 before.
func (c *Checkpoints) newest() int { return c.last }

// checkpointName returns the name of the checkpoint after n steps.
func checkpointName(n int) string { return fmt.Sprintf("step-%08d.safetensors", n) }

// stepsOf returns the steps of the checkpoint of this name and reports whether it is one's.
func stepsOf(name string) (n int, ok bool) {
	_, err := fmt.Sscanf(name, "step-%d.safetensors", &n)
	return n, err == nil && n >= 0 && name == checkpointName(n)
}

// IsCheckpoint reports whether a file of this name is a checkpoint of Checkpoints.
func IsCheckpoint(name string) bool {
	_, ok := stepsOf(name)
	return ok
}

// CheckpointPath returns the path that the checkpoint after n steps has in a folder of
// Checkpoints, whether there is one or not.
func CheckpointPath(folder string, n int) string { return filepath.Join(folder, checkpointName(n)) }

// CheckpointSteps returns the numbers of steps after which a folder of Checkpoints has
// one, ascending. It does not lock the folder: a run may be saving to it. The error for
// a folder that does not exist wraps fs.ErrNotExist.
func CheckpointSteps(path string) ([]int, error) {
	dir, err := folder.Enter(path)
	if err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	steps, err := stepsIn(dir)
	return steps, oneline.Join(err, dir.Close())
}

// stepsIn returns the steps of a folder's regular files that are checkpoints, ascending.
func stepsIn(dir *folder.Dir) (all []int, err error) {
	names, err := dir.Names()
	if err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	for _, name := range names {
		if n, ok := stepsOf(name); ok && dir.Check(name) == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Path returns the path that the checkpoint after n steps has, whether there is one or not.
func (c *Checkpoints) Path(n int) string {
	if c.made() != nil {
		return ""
	}
	return c.dir.Path(checkpointName(n))
}

// Steps returns the numbers of steps after which there are checkpoints, ascending.
func (c *Checkpoints) Steps() ([]int, error) {
	if err := c.made(); err != nil {
		return nil, err
	}
	return CheckpointSteps(c.dir.Path(""))
}

// Save saves a checkpoint of the loop and the source of its batches as Loop.Save does,
// and then removes all but the newest ones. It also removes checkpoints after more
// steps than the loop has taken: the run was resumed from an older one. With Config.Group
// rank 0 calls it, when the others call Loop.Save, which then writes nothing.
func (c *Checkpoints) Save(l *Loop, source Resumable) error {
	if err := c.made(); err != nil {
		return err
	}
	if err := l.made(); err != nil {
		return err
	}
	return l.saved(func() error { return c.save(l, source) })
}

func (c *Checkpoints) save(l *Loop, source Resumable) error {
	if err := c.made(); err != nil {
		return err
	}
	err := l.save(source, func(fill func(io.Writer) error) error { return c.dir.Write(checkpointName(l.Steps()), fill) })
	if err != nil {
		return err
	}
	c.last = l.Steps()
	all, err := stepsIn(c.dir)
	if err != nil {
		return err
	}
	keep := cmp.Or(c.config.Keep, 2)
	own := slices.Index(all, l.Steps())
	for i, steps := range all {
		if i <= own-keep || i > own {
			if err := c.dir.Remove(checkpointName(steps)); err != nil {
				return fmt.Errorf("train: checkpoints: %w", err)
			}
		}
	}
	return nil
}

// Restore restores the loop and the source of its batches from the newest checkpoint
// as Loop.Restore does, and reports whether there is one. If it is damaged, nothing is
// restored and the error is a DamagedError, which names the newest intact one.
func (c *Checkpoints) Restore(l *Loop, source Resumable) (found bool, err error) {
	all, err := c.Steps()
	if err != nil || len(all) == 0 {
		return false, err
	}
	slices.Reverse(all)
	err = l.Restore(c.Path(all[0]), source)
	if errors.Is(err, ErrDamaged) {
		return false, &DamagedError{Err: err, Intact: c.newestIntact(l, all[1:])}
	}
	if err != nil {
		return false, err
	}
	c.last = l.Steps()
	return true, nil
}

// newestIntact returns the path of the first of these checkpoints that the loop can restore, or "".
func (c *Checkpoints) newestIntact(l *Loop, all []int) string {
	for _, steps := range all {
		path := c.Path(steps)
		err := readCheckpoint(path, l.params, func(r *safetensors.Reader) error {
			_, err := l.fitting(r)
			return err
		}, func(*safetensors.Reader) error { return nil })
		if err == nil {
			return path
		}
	}
	return ""
}

// DamagedError is the error for a folder whose newest checkpoint is damaged.
type DamagedError struct {
	Err    error  // names the file and wraps ErrDamaged
	Intact string // path of the newest intact checkpoint, for Loop.Restore; "" if there is none
}

// Error names the damaged checkpoint and the newest intact one.
func (e *DamagedError) Error() string {
	if e.Intact == "" {
		return e.Err.Error() + "; there is no other intact checkpoint"
	}
	return e.Err.Error() + "; the newest intact checkpoint is " + e.Intact
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }
