package follow

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"attention/cmd/attention/internal/session"
	"attention/internal/folder"
)

// Folder follows the runs in a folder.
type Folder struct {
	dir string

	mu   sync.Mutex
	runs map[string]*Run // runs that were requested, by their names
}

// Listed describes a run of a folder.
type Listed struct {
	Name string `json:"name"`
	session.Summary
}

// OpenFolder returns a Folder that follows the runs in dir, which must hold at least one run.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{dir: dir, runs: map[string]*Run{}}
	all, err := f.List()
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: got no run in it, want the folder of a run, or of runs", dir)
	}
	return f, err
}

// List describes the runs, the newest first and runs without a date last. It omits entries that are not runs.
func (f *Folder) List() ([]Listed, error) {
	names, err := folder.Names(f.dir)
	if err != nil {
		return nil, err
	}
	all := []Listed{} // not null in JSON
	for _, name := range names {
		s, err := session.Summarize(f.path(name))
		if err != nil {
			continue
		}
		s.Sessions = nil
		all = append(all, Listed{name, s})
	}
	began := func(l Listed) (t time.Time) {
		if l.Begin != nil {
			t = *l.Begin
		}
		return t
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return began(b).Compare(began(a)) })
	return all, nil
}

// Path returns the path of a run by its name.
func (f *Folder) Path(name string) (string, error) {
	names, err := folder.Names(f.dir)
	if err == nil && !slices.Contains(names, name) {
		err = fmt.Errorf("run: got %.100q, want one of %d in %s", name, len(names), f.dir)
	}
	return f.path(name), err
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

// State returns the state of the run with a name.
func (f *Folder) State(name string) (s State, err error) {
	path, err := f.Path(name)
	if err != nil {
		return s, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[name]
	if r == nil {
		if r, err = Open(path); err != nil {
			return s, err
		}
		f.runs[name] = r
	} else if err = r.Update(); err != nil {
		return s, err
	}
	return r.State(), nil
}
