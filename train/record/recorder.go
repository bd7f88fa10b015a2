package record

import (
	"errors"
	"fmt"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train/loop"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Config sets what a run records in addition to the norms of its parameters. It does not change any bit of the
// training.
type Config struct {
	// Probe returns the nodes, at least one, that each record computes with the current parameters, such as the
	// attention weights of a short text. It is a layers.Formula of Inputs. Nil means none.
	Probe  func(b *layers.Build, in layers.Inputs) (Probe, error)
	Inputs layers.Values
	// Matrices are the parts of parameters that are recorded.
	Matrices []Matrix
	// OnRecord is called by Run with every record; may be nil.
	OnRecord func(Record)
}

// Probe lists the nodes of a graph that are recorded, by names.
type Probe struct {
	Tensors map[string]*G.Node // float32 or float64, recorded; for example attention weights (H, T, T)
	Notes   map[string]string  // stored with the recordings, for example the tokens of the text

	// Numbers returns numbers for every record, such as a layer's entropies (H), from the values of Nodes, which are valid
	// until it returns; may be nil. heads.Record returns both.
	Numbers func(values []*tensor.Dense) (map[string][]float64, error)
	Nodes   G.Nodes
}

// Matrix is the upper left part of a parameter of two axes. 0 rows or columns, or too many, mean all of them, at most
// 64.
type Matrix struct {
	Param         string // its name
	Rows, Columns int
}

// Limits of a recording.
const (
	mostParams   = 2048    // parameters in a record, the first ones
	mostElements = 1 << 16 // elements of a parameter whose changes are measured
	mostSide     = 64      // rows and columns of a Matrix
	mostNumbers  = 1 << 14 // numbers of a Probe
	mostKept     = 1 << 17 // numbers of the tensors of one record: of a Probe and of Matrices
	mostTimes    = 32      // records whose tensors are kept
	allRecords   = 4096    // evaluations after which only every second has a record, then every fourth, …

	mostLines = 32 << 20 // bytes of watch.jsonl
	mostLine  = folder.MaxWatchLine
)

// Names of the files of a Recorder.
const (
	LinesFile   = "watch.jsonl"
	TensorsFile = "watch.safetensors"
)

// Recorder is the folder to which one run records how its parameters change. The package's comment has their format.
type Recorder struct{ observer *observer }

// Open makes a loop record to a folder, such as the run's own folder, and creates the folder if it does not exist.
// Records are made before the first step, after every evaluation that is due, even if Run has no source to evaluate on,
// and after the last step. A link in the place of a file is refused.
//
// Call Open before a checkpoint is restored, so that a resumed run continues recording at the checkpoint's step: its
// files then equal those of a run that never stopped. If the checkpoint has no state of a recorder, or no checkpoint is
// restored, Run overwrites the files of an earlier run and starts with a record before its first step. In a group only
// one process records.
func Open(l *loop.Loop, path string, c Config) (*Recorder, error) {
	if l == nil {
		return nil, errors.New("train: record: got nil for the loop, want one")
	}
	o, err := newObserver(l, path, c)
	if err != nil {
		return nil, fmt.Errorf("train: record: %w", err)
	}
	l.Observe(o)
	return &Recorder{o}, nil
}

// Close closes the files and ends recording.
func (r *Recorder) Close() error {
	o := r.observer
	o.loop.Observe(nil)
	var err error
	if o.lines != nil {
		err, o.lines = o.lines.Close(), nil
	}
	return oneline.Join(err, o.dir.Close())
}
