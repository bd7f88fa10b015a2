package record

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// Recording is what a run has recorded.
type Recording struct {
	Records []Record
	// Steps are those of the records whose tensors are kept: the first record, the last one and
	// some between, at most 32. They may lack the last ones of a run that was killed or still
	// trains.
	Steps    []int
	Probe    map[string]*tensor.Dense // float32 (M, …), M the number of Steps, by the names of Probe.Tensors
	Matrices map[string]*tensor.Dense // float32 (M, rows, columns), by the parameters' names
	Notes    map[string]string        // of Probe
	tensors  map[string]*tensor.Dense // all, by their names in the file
}

// Read reads what the run in a folder has recorded, also while it trains. The error for
// a folder without a record wraps fs.ErrNotExist; the one for tensors that were cut short or
// changed wraps ErrDamaged. Of the lines the last one may be cut.
func Read(path string) (*Recording, error) {
	w := &Recording{}
	// The lines come last: then they are not older than the tensors.
	if err := w.readTensors(filepath.Join(path, TensorsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("train: record: %w", err)
	}
	if err := w.readLines(filepath.Join(path, LinesFile)); err != nil {
		return nil, fmt.Errorf("train: record: %w", err)
	}
	return w, nil
}

func (w *Recording) readLines(path string) error {
	file, err := folder.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := newReader(file); ; {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		w.Records = append(w.Records, line)
	}
}

// reader reads records from watch.jsonl.
type reader struct {
	r    *bufio.Reader
	n    int   // lines read
	last int   // step of the last one; -1 before
	size int64 // bytes of those lines
}

func newReader(r io.Reader) *reader {
	return &reader{r: bufio.NewReaderSize(r, folder.MaxWatchLine), last: -1}
}

// next returns the next record, or io.EOF after the last whole line.
func (r *reader) next() (line Record, err error) {
	text, err := r.r.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		return line, io.EOF
	case errors.Is(err, bufio.ErrBufferFull):
		err = fmt.Errorf("got more than %d bytes, want a shorter line", folder.MaxWatchLine)
	case err == nil:
		line, err = parse(text, r.last)
	}
	if err != nil {
		return line, fmt.Errorf("line %d: %w", r.n+1, err)
	}
	r.n, r.last, r.size = r.n+1, line.Step, r.size+int64(len(text))
	return line, nil
}

// parse reads a line after a record of step last.
func parse(text []byte, last int) (line Record, err error) {
	if err := json.Unmarshal(text, &line); err != nil { // which reads null as package config does not
		return line, err
	}
	return line, config.JSON(line.check(last))
}

// check returns an error for the first value that no run writes after a record of step last.
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
			if n < 0 || math.IsInf(float64(n), 0) {
				return config.Errorf(r, fmt.Sprintf("Params[%d]", i), "got a norm of %v, want at least 0", n)
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

// setTensors takes the records of a file.
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
	w.Notes = map[string]string{}
	for key, value := range f.Metadata {
		if key, ok := strings.CutPrefix(key, notesPrefix); ok {
			w.Notes[key] = value
		}
	}
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
			w.Matrices[name] = value
		}
	}
	return nil
}

// ascending orders numbers that must all differ.
func ascending(a, b int) int { return cmp.Or(cmp.Compare(a, b), -1) }
