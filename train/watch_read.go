package train

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
	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// Watched is what a run has recorded to a Watch.
type Watched struct {
	Records []WatchRecord
	// Moments are the steps before which the tensors are kept: the first record's, the last
	// one's and some between, at most 32. They may lack the last ones of a run that was
	// killed or still trains.
	Moments  []int
	Probe    map[string]*tensor.Dense // float32 (M, …), M the moments, by the names of Probe.Tensors
	Matrices map[string]*tensor.Dense // float32 (M, rows, columns), by the parameters' names
	Notes    map[string]string        // of Probe
	tensors  map[string]*tensor.Dense // all, by their names in the file
}

// ReadWatch reads what the run in a folder has recorded, also while it trains. The error for
// a folder without a record wraps fs.ErrNotExist; the one for tensors that were cut short or
// changed wraps ErrDamaged. Of the lines the last one may be cut.
func ReadWatch(path string) (*Watched, error) {
	w := &Watched{}
	// The lines come last: then they are not older than the tensors.
	err := w.readTensors(filepath.Join(path, WatchTensors))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = w.readLines(filepath.Join(path, WatchLines))
	}
	if err != nil {
		return nil, fmt.Errorf("train: watch: %w", err)
	}
	return w, nil
}

func (w *Watched) readLines(path string) error {
	file, err := folder.Open(path)
	if err != nil {
		return err
	}
	for lines := newWatchReader(file); err == nil; {
		var line WatchRecord
		if line, err = lines.next(); err == nil {
			w.Records = append(w.Records, line)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return oneline.Join(err, file.Close())
}

// watchReader reads records from watch.jsonl.
type watchReader struct {
	r    *bufio.Reader
	n    int   // lines read
	last int   // step of the last one; -1 before
	size int64 // bytes of those lines
}

func newWatchReader(r io.Reader) *watchReader {
	return &watchReader{r: bufio.NewReaderSize(r, folder.MaxWatchLine), last: -1}
}

// next returns the next record, or io.EOF after the last whole line.
func (r *watchReader) next() (line WatchRecord, err error) {
	text, err := r.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("got more than %d bytes, want a shorter line", folder.MaxWatchLine)
	}
	if errors.Is(err, io.EOF) {
		return line, io.EOF
	}
	if err == nil {
		err = json.Unmarshal(text, &line) // which reads null as package config does not
	}
	if err == nil {
		err = config.JSON(line.check(r.last))
	}
	if err != nil {
		return line, fmt.Errorf("line %d: %w", r.n+1, err)
	}
	r.n, r.last, r.size = r.n+1, line.Step, r.size+int64(len(text))
	return line, nil
}

// check returns an error for the first value that no run writes after a record of step last.
func (r WatchRecord) check(last int) error {
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
func (w *Watched) readTensors(path string) error {
	r, err := safetensors.OpenSealed(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if most := int64(4 * momentNumbers * mostMoments); r.Size() > most {
		return fmt.Errorf("%s: got tensors of %d bytes, want at most %d", path, r.Size(), most)
	}
	var f *safetensors.File
	if err = r.CheckSeal(); err == nil {
		f, err = r.ReadAll()
	}
	if err != nil {
		return err
	}
	if err := w.setTensors(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// setTensors takes a file's moments.
func (w *Watched) setTensors(f *safetensors.File) error {
	if got := f.Metadata[formatKey]; got != watchFormat {
		return fmt.Errorf("format: got %.100q, want %q", got, watchFormat)
	}
	if err := config.Foreign.Decode([]byte(f.Metadata[momentsKey]), &w.Moments); err != nil {
		return fmt.Errorf("%s: %w", momentsKey, err)
	}
	if n := len(w.Moments); n < 1 || n > mostMoments || w.Moments[0] < 0 || !slices.IsSortedFunc(w.Moments, ascending) {
		return fmt.Errorf("%s: got %.100s, want 1 to %d ascending ones", momentsKey, fmt.Sprint(w.Moments), mostMoments)
	}
	w.Notes = withPrefix(f.Metadata, notesPrefix)
	w.tensors, w.Probe, w.Matrices = map[string]*tensor.Dense{}, map[string]*tensor.Dense{}, map[string]*tensor.Dense{}
	for _, t := range f.Tensors {
		value, err := fromTensor(t)
		if err != nil {
			return err
		}
		if value.Dtype() != tensor.Float32 || value.Dims() < 1 || value.Shape()[0] != len(w.Moments) {
			return fmt.Errorf("tensor %.100q: got %v %v, want float32 of %d moments", t.Name, value.Dtype(), value.Shape(),
				len(w.Moments))
		}
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

// ascending orders numbers of which no two may be equal.
func ascending(a, b int) int { return cmp.Or(cmp.Compare(a, b), -1) }
