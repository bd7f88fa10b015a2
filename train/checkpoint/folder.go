package checkpoint

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
	"attention/train"
	"attention/train/loop"
)

// Config sets when Run saves and how many checkpoints stay.
type Config struct {
	Every int `json:"every"` // steps between two checkpoints; 0 means saving only when Run ends or is stopped
	Keep  int `json:"keep"`  // number of newest checkpoints that stay; 0 means 2
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	return config.AtLeast(c, 0, "Every", "Keep")
}

// Folder is a folder with the checkpoints of one run, named by the steps taken. Only one process at a time may use it.
type Folder struct {
	dir    *folder.Dir
	config Config
	lock   *os.File
	last   int // steps of the checkpoint that was last saved or restored; -1 before
}

// ErrInUse is wrapped by the error for a folder of checkpoints that another process
// holds.
var ErrInUse = folder.ErrInUse

// ErrDamaged is wrapped by the error for a checkpoint that was cut short or changed.
var ErrDamaged = safetensors.ErrDamaged

// Open makes the folder if it does not exist, locks it until Close or the
// end of the process, and removes the checkpoints that a killed process was still
// writing. The error for a folder that another process holds wraps ErrInUse.
//
// The folder may be a link. The lock and the checkpoints in it must not: nothing
// outside the folder is written or removed.
func Open(path string, c Config) (*Folder, error) {
	cs, err := open(path, c)
	if err != nil {
		return nil, fmt.Errorf("train: checkpoints: %w", err)
	}
	return cs, nil
}

func open(path string, c Config) (*Folder, error) {
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
	if err := dir.RemoveIncomplete(IsName); err != nil {
		return nil, oneline.Join(err, lock.Close(), dir.Close())
	}
	return &Folder{dir: dir, config: c, lock: lock, last: -1}, nil
}

// Close unlocks the folder for other processes.
func (f *Folder) Close() error {
	return oneline.Join(f.lock.Close(), f.dir.Close())
}

// Every returns Config.Every, for loop.Saver.
func (f *Folder) Every() int { return f.config.Every }

// Newest returns the steps of the checkpoint that was last saved or restored, for loop.Saver; -1
// before.
func (f *Folder) Newest() int { return f.last }

// nameOf returns the name of the checkpoint after n steps.
func nameOf(n int) string { return fmt.Sprintf("step-%08d.safetensors", n) }

// stepsOf returns the steps in the name of a checkpoint, and reports whether a name is a checkpoint's.
func stepsOf(name string) (n int, ok bool) {
	_, err := fmt.Sscanf(name, "step-%d.safetensors", &n)
	return n, err == nil && n >= 0 && name == nameOf(n)
}

// IsName reports whether a file of this name is a checkpoint of a Folder.
func IsName(name string) bool {
	_, ok := stepsOf(name)
	return ok
}

// Path returns the path of the checkpoint after n steps in a folder of checkpoints, even if there is no such
// checkpoint.
func Path(folder string, n int) string { return filepath.Join(folder, nameOf(n)) }

// Steps returns the numbers of steps after which a folder has a checkpoint, ascending. It does not
// lock the folder: a run may be saving to it. The error for a folder that does not exist wraps
// fs.ErrNotExist.
func Steps(path string) ([]int, error) {
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

// Path returns the path of the checkpoint after n steps, even if there is no such checkpoint.
func (f *Folder) Path(n int) string { return f.dir.Path(nameOf(n)) }

// Steps returns the numbers of steps after which there are checkpoints, ascending.
func (f *Folder) Steps() ([]int, error) { return Steps(f.dir.Path("")) }

// Save saves a checkpoint of the loop and the source of its batches as the function Save does, and then removes all
// checkpoints except the newest ones. It also removes checkpoints after more steps than the loop has taken: they remain
// if the run was resumed from an older one. In a group rank 0 calls Save while the other processes call Loop.Save.
func (f *Folder) Save(l *loop.Loop, source train.Resumable) error {
	if l == nil {
		return errNoLoop
	}
	return l.Save(func(s loop.State) error {
		err := save(s, source, func(fill func(io.Writer) error) error { return f.dir.Write(nameOf(s.Steps), fill) })
		if err != nil {
			return err
		}
		f.last = s.Steps
		return f.removeOld()
	})
}

// removeOld removes all checkpoints except the newest ones up to the last.
func (f *Folder) removeOld() error {
	all, err := stepsIn(f.dir)
	if err != nil {
		return err
	}
	keep := cmp.Or(f.config.Keep, 2)
	own := slices.Index(all, f.last)
	for i, steps := range all {
		if i <= own-keep || i > own {
			if err := f.dir.Remove(nameOf(steps)); err != nil {
				return fmt.Errorf("train: checkpoints: %w", err)
			}
		}
	}
	return nil
}

// Restore restores the loop and the source of its batches from the newest checkpoint as the function Restore does; it
// returns nil if there is none. If it is damaged, nothing is restored and the error is a DamagedError, which names the
// newest intact one.
func (f *Folder) Restore(l *loop.Loop, source train.Resumable) (*Restored, error) {
	if l == nil {
		return nil, errNoLoop
	}
	all, err := f.Steps()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	slices.Reverse(all)
	r, err := Restore(l, f.Path(all[0]), source)
	if errors.Is(err, ErrDamaged) {
		return nil, &DamagedError{Err: err, Intact: f.newestIntact(l, all[1:])}
	}
	if err != nil {
		return nil, err
	}
	f.last = l.Steps()
	return r, nil
}

// newestIntact returns the path of the first of these checkpoints that the loop can restore, or "".
func (f *Folder) newestIntact(l *loop.Loop, all []int) string {
	for _, steps := range all {
		path := f.Path(steps)
		r, err := openFitting(path, l.State().Params, func(r *safetensors.Reader) error {
			_, err := fitting(r, l)
			return err
		})
		if err != nil {
			continue
		}
		_ = r.Close() // nothing has been changed by the attempt
		return path
	}
	return ""
}

// DamagedError is the error for a folder whose newest checkpoint is damaged.
type DamagedError struct {
	Err    error  // names the file and wraps ErrDamaged
	Intact string // path of the newest intact checkpoint, to restore; "" if there is none
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
