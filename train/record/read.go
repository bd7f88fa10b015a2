package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/about"
	"attention/internal/config"
	"attention/internal/lines"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// Recording holds the records of a run. A Recording does not change.
type Recording struct {
	Records []Record
	// Steps are the steps of the records whose tensors are kept: the first record, the last one and some in between, at
	// most 32. The last ones may be missing if the run was killed or still trains.
	Steps    []int
	Probe    map[string]*tensor.Dense // float32 (M, …), M the number of Steps, by the names of Probe.Tensors
	Matrices map[string]*tensor.Dense // float32 (M, rows, columns), by the parameters' names
	Notes    map[string]string        // of Probe

	tensors map[string]*tensor.Dense // all tensors, by their names in the file
	file    fs.FileInfo              // size of the file of tensors; nil without one
	at      lines.Place              // position behind the last record
}

// Read reads the records of the run in a folder, also while it trains. The error for a folder without a record wraps
// fs.ErrNotExist; the error for tensors that were truncated or changed wraps ErrDamaged. The last line may be
// incomplete.
//
// before is nil or the result of an earlier call: Read then reads only new records, and returns before itself if there
// are none. It stops with the context's error when the context is done.
func Read(ctx context.Context, path string, before *Recording) (*Recording, error) {
	if ctx == nil {
		return nil, errors.New("train: record: context: got nil, want one")
	}
	if before == nil {
		before = new(Recording)
	}
	w := new(Recording)
	// The lines are read last, so that they are not older than the tensors.
	err := w.readNewTensors(filepath.Join(path, TensorsFile), before)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("train: record: %w", err)
	}
	if err := w.readNewLines(ctx, filepath.Join(path, LinesFile), before); err != nil {
		return nil, fmt.Errorf("train: record: %w", err)
	}
	if w.at == before.at && w.file == before.file {
		return before, nil
	}
	return w, nil
}

// readNewTensors uses the tensors of before if the file is still the same.
func (w *Recording) readNewTensors(path string, before *Recording) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if was := before.file; was != nil && os.SameFile(was, info) && was.Size() == info.Size() &&
		was.ModTime().Equal(info.ModTime()) {
		w.Steps, w.Probe, w.Matrices, w.Notes = before.Steps, before.Probe, before.Matrices, before.Notes
		w.tensors, w.file = before.tensors, was
		return nil
	}
	w.file = info
	return w.readTensors(path)
}

// readNewLines uses the records of before if the file still has the last of their lines, and reads the lines behind it.
func (w *Recording) readNewLines(ctx context.Context, path string, before *Recording) error {
	w.Records, w.at = slices.Clip(before.Records), before.at
	last := Record{Step: -1}
	if n := len(w.Records); n > 0 {
		last = w.Records[n-1]
	}
	anew := func() { w.Records, last = nil, Record{Step: -1} }
	for line, err := range lines.ReadFile(path, &w.at, mostLine, anew, parser(&w.at, &last)) {
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		w.Records = append(w.Records, line)
	}
	return ctx.Err()
}

// check returns an error for the first value that no run can write after a record of step last.
func (r Record) check(last int) error {
	if r.Step <= last {
		return config.Errorf(r, "Step", "got %d after %d, want a greater one", r.Step, last)
	}
	if len(r.Params) == 0 {
		return config.Errorf(r, "Params", "got none, want at least one")
	}
	for i, p := range r.Params {
		if p.Name == "" {
			return config.Errorf(r, fmt.Sprintf("Params[%d].Name", i), "got none, want a parameter's name")
		}
		for _, n := range []Number{p.Norm, p.Change, p.ChangeFromStart, p.Gradient} {
			if n < 0 || math.IsInf(float64(float32(n)), 0) { // in its written form
				return config.Errorf(r, fmt.Sprintf("Params[%d]", i), "got a norm of %v, want at least 0, of a float32",
					n)
			}
		}
	}
	return nil
}

// readTensors reads watch.safetensors.
func (w *Recording) readTensors(path string) error {
	r, err := safetensors.OpenSealed(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if most := int64(4 * mostKept * mostTimes); r.Size() > most {
		return fmt.Errorf("%s: got tensors of %d bytes, want at most %d", path, r.Size(), most)
	}
	if err := r.CheckSeal(); err != nil {
		return err
	}
	f, err := r.ReadAll()
	if err != nil {
		return err
	}
	if err := w.setTensors(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// setTensors sets the records from a file.
func (w *Recording) setTensors(f *safetensors.File) error {
	if got := f.Metadata[formatKey]; got != format {
		return fmt.Errorf("format: got %.100q, want %q", got, format)
	}
	if err := config.Foreign.Decode([]byte(f.Metadata[stepsKey]), &w.Steps); err != nil {
		return fmt.Errorf("%s: %w", stepsKey, err)
	}
	if n := len(w.Steps); n < 1 || n > mostTimes || w.Steps[0] < 0 || !slices.IsSortedFunc(w.Steps, ascending) {
		return fmt.Errorf("%s: got %.100s, want 1 to %d ascending ones", stepsKey, fmt.Sprint(w.Steps), mostTimes)
	}
	w.Notes = about.Get(f.Metadata, notesPrefix)
	w.tensors, w.Probe, w.Matrices = map[string]*tensor.Dense{}, map[string]*tensor.Dense{}, map[string]*tensor.Dense{}
	for _, t := range f.Tensors {
		data, ok := t.Data.([]float32)
		if !ok || len(data) == 0 || len(t.Shape) == 0 || t.Shape[0] != len(w.Steps) {
			return fmt.Errorf("tensor %.100q: got %v %v, want float32 of %d records", t.Name, t.DType.Element(),
				tensor.Shape(t.Shape), len(w.Steps))
		}
		value := tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(data))
		w.tensors[t.Name] = value
		if name, ok := strings.CutPrefix(t.Name, probePrefix); ok {
			w.Probe[name] = value
		}
		if name, ok := strings.CutPrefix(t.Name, matrixPrefix); ok {
			if len(t.Shape) != 3 {
				return fmt.Errorf("tensor %.100q: got shape %v, want records, rows and columns", t.Name, value.Shape())
			}
			w.Matrices[name] = value
		}
	}
	return nil
}

// ascending compares numbers that must all differ.
func ascending(a, b int) int { return cmp.Or(cmp.Compare(a, b), -1) }
