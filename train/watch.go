package train

import (
	"errors"
	"fmt"
	"os"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/stock"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// WatchConfig sets what a run records beside its parameters' norms. Nothing of it changes
// a bit of the run.
type WatchConfig struct {
	// Probe returns the nodes of a graph, built over b, that each record computes anew with
	// the parameters of that moment: the attention weights of a short text, say. Its inputs
	// are bound with gorgonia.Let. b is an evaluation graph's; Probe is called once. Nil
	// means none.
	Probe func(b *layers.Build) (Probe, error)
	// Matrices are the parts of parameters that are kept over time.
	Matrices []MatrixPart
	// OnRecord is called by Run with every record; may be nil.
	OnRecord func(WatchRecord)
}

// Probe is what is recorded of a graph, by names.
type Probe struct {
	Tensors map[string]*G.Node // float32 or float64, kept over time, as attention weights (H, T, T)
	Notes   map[string]string  // kept with them, as the tokens of the text

	// Numbers returns numbers of every record, as a layer's entropies (H), from the values of
	// Nodes, which last until it returns; may be nil. layers.HeadStats has both.
	Numbers func(values []*tensor.Dense) (map[string][]float64, error)
	Nodes   G.Nodes
}

// MatrixPart is the upper left part of a parameter of two axes. 0 rows or columns, or more
// than 64 or than there are, mean as many as there are, at most 64.
type MatrixPart struct {
	Param         string // its name
	Rows, Columns int
}

// The caps of what is recorded.
const (
	watchedParams   = 2048    // parameters of a record, the first ones
	watchedElements = 1 << 16 // elements of a parameter whose changes are measured
	watchedSide     = 64      // rows and columns of a MatrixPart
	watchedNumbers  = 1 << 14 // numbers of a Probe
	momentNumbers   = 1 << 17 // numbers of a moment: the tensors of a Probe and the MatrixParts
	mostMoments     = 32
	allRecords      = 4096 // evaluations after which only every second has a record, then every fourth, …
)

// The files of a Watch.
const (
	WatchLines   = "watch.jsonl"
	WatchTensors = "watch.safetensors"
)

// Watch is the files of a folder in which one run records how its parameters move. The
// package's comment has their format.
type Watch struct {
	dir    *folder.Dir
	config WatchConfig
	lines  *os.File // nil until a run begins
}

// OpenWatch opens the folder, which may be that of a run, and makes it if it does not exist.
// It is for one run at a time. Files of an earlier run are overwritten unless Run continues
// it, after Restore. A link in the place of a file is refused.
func OpenWatch(path string, c WatchConfig) (*Watch, error) {
	w, err := openWatch(path, c)
	if err != nil {
		return nil, fmt.Errorf("train: watch: %w", err)
	}
	return w, nil
}

func openWatch(path string, c WatchConfig) (*Watch, error) {
	for _, m := range c.Matrices {
		if m.Rows < 0 || m.Columns < 0 {
			return nil, fmt.Errorf("matrix %.100q: got %d rows and %d columns, want at least 0", m.Param, m.Rows, m.Columns)
		}
	}
	dir, err := folder.Make(path)
	if err != nil {
		return nil, err
	}
	err = oneline.Join(dir.Check(WatchLines), dir.Check(WatchTensors))
	if err == nil {
		err = dir.RemoveIncomplete(func(name string) bool { return name == WatchTensors })
	}
	if err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	return &Watch{dir: dir, config: c}, nil
}

// made refuses a watch that OpenWatch did not open.
func (w *Watch) made() error {
	if w == nil || w.dir == nil {
		return errors.New("train: watch: got nil or its zero value, want one of OpenWatch")
	}
	return nil
}

// Close closes the files.
func (w *Watch) Close() error {
	if err := w.made(); err != nil {
		return err
	}
	var err error
	if w.lines != nil {
		err, w.lines = w.lines.Close(), nil
	}
	return oneline.Join(err, w.dir.Close())
}

// WatchTo makes Run record to a watch: before the first step, whenever an evaluation is due,
// after it, whether Run has a source to evaluate on or not, and after the last step. It
// comes before Restore, so that a run that resumes goes on recording where the
// checkpoint stands: its files then equal those of a run that never stopped. If the
// checkpoint holds nothing of a watch, Run begins anew, with a record at its first step. Nil
// makes Run record nothing. With Config.Group one process records.
func (l *Loop) WatchTo(w *Watch) error {
	if err := l.made(); err != nil {
		return err
	}
	if w == nil {
		l.watch = nil
		return nil
	}
	if err := w.made(); err != nil {
		return err
	}
	stock.Building.Lock()
	defer stock.Building.Unlock()
	r, err := newRecorder(l, w)
	if err != nil {
		return fmt.Errorf("train: watch: %w", err)
	}
	l.watch = r
	return nil
}

// watchDue reports whether a record is due, now that the evaluation is done.
func (l *Loop) watchDue() bool {
	if l.watch == nil || l.watch.recorded == l.Steps() {
		return false
	}
	if l.watch.recorded < 0 || l.Steps() == l.config.Steps || l.impatient() {
		return true
	}
	i, ok := l.evaluationIndex(l.Steps())
	return ok && i%recordStride(i) == 0
}

// evaluationIndex returns the number of evaluations that are due before one after n steps,
// counted with one before the first step, and reports whether one is due then.
func (l *Loop) evaluationIndex(n int) (i int, ok bool) {
	if n == 0 {
		return 0, true
	}
	every := l.config.EvalEvery
	return n / max(every, 1), every > 0 && n%every == 0
}

// recordStride returns 1 for the first evaluations of a run, 2 for as many again, and so on.
func recordStride(i int) int {
	stride := 1
	for i/stride >= allRecords {
		stride *= 2
	}
	return stride
}
