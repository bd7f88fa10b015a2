package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/train"
	"attention/train/loop"

	"gorgonia.org/tensor"
)

// A checkpoint is a safetensors file of all parameters and the solver's state, each with a prefix, with metadata and a
// checksum over the file's bytes (package folder).
const (
	paramPrefix    = "params."
	solverPrefix   = "solver."
	bestPrefix     = "best."  // before the parameters of State.Kept
	observedPrefix = "watch." // before State.Observations
)

// Save writes everything that a run needs to resume to a file: parameters, the solver's state, the number of steps
// taken, the config and the position of the source of the batches. Seed and step determine dropout's masks. With a nil
// source the caller stores the position itself.
//
// The file is written beside path, flushed and renamed, and the folder is flushed. path therefore never holds an
// incomplete file, and keeps its old file if Save fails. The file holds a checksum of all its bytes. A parameter that
// is NaN or infinite is an error that wraps train.ErrNotFinite: no run could resume from it. In a group all processes
// call Save, and rank 0 writes.
func Save(l *loop.Loop, path string, source train.Resumable) error {
	if l == nil {
		return errNoLoop
	}
	return l.Save(func(s loop.State) error {
		return save(s, source, func(fill func(io.Writer) error) error { return folder.WriteFile(path, fill) })
	})
}

var errNoLoop = errors.New("train: checkpoint: got nil for the loop, want one")

// save saves a state to the file that write writes.
func save(s loop.State, source train.Resumable, write func(fill func(io.Writer) error) error) error {
	f, err := fileOf(s, source)
	if err != nil {
		return fmt.Errorf("train: checkpoint after %d steps: %w", s.Steps, err)
	}
	if err := write(func(w io.Writer) error { return safetensors.WriteSealed(w, f) }); err != nil {
		return fmt.Errorf("train: checkpoint after %d steps: %w", s.Steps, err)
	}
	return nil
}

// fileOf returns everything that a run needs to resume.
func fileOf(s loop.State, source train.Resumable) (*safetensors.File, error) {
	if err := train.CheckFinite(s.Params); err != nil {
		return nil, err
	}
	metadata, err := metadataOf(s, source)
	if err != nil {
		return nil, err
	}
	params, err := toFile(paramPrefix, s.Params.Own())
	if err != nil {
		return nil, err
	}
	var kept, observed []safetensors.Tensor
	if s.Best.Step > 0 {
		if kept, err = toFile(bestPrefix, s.Kept); err != nil {
			return nil, err
		}
	}
	if s.Observed >= 0 {
		if observed, err = toFile(observedPrefix, s.Observations); err != nil {
			return nil, err
		}
	}
	return &safetensors.File{Metadata: metadata, Tensors: slices.Concat(params, solverOf(s), kept, observed)}, nil
}

// solverOf returns the solver's state in the form of a file.
func solverOf(s loop.State) (all []safetensors.Tensor) {
	for _, p := range s.Solver {
		t := safetensors.Tensor{Name: solverPrefix + p.Name, Shape: p.Shape}
		if p.Each == nil {
			t.Data = dense.Slice(p.Value)
		} else {
			t.Data = safetensors.Stream{DType: dtypes[p.Dtype], Each: p.Each}
		}
		all = append(all, t)
	}
	return all
}

// dtypes are the types of state tensors in a file.
var dtypes = map[tensor.Dtype]safetensors.DType{tensor.Float32: safetensors.F32, tensor.Float64: safetensors.F64,
	tensor.Int64: safetensors.I64}
