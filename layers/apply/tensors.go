package apply

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// tensorFile is an open safetensors file. The data of a tensor is read when it is first needed, after all names and
// shapes have been checked. Integers of any type are read as int64s.
type tensorFile struct {
	path    string
	reader  *safetensors.Reader
	names   []string // in the order of their data
	tensors map[string]safetensors.Tensor
}

// openTensorFile opens a tensor file of limited size, and checks its checksum if it has one.
func openTensorFile(path string) (*tensorFile, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	const most = 8 * maxElements
	if r.Size() > most {
		err = fmt.Errorf("%s: got tensors of %d bytes, want at most %d", path, r.Size(), most)
	} else {
		err = r.CheckSeal()
	}
	if err != nil {
		return nil, oneline.Join(err, r.Close())
	}
	f := &tensorFile{path: path, reader: r, tensors: map[string]safetensors.Tensor{}}
	for _, t := range r.Tensors() {
		f.names = append(f.names, t.Name)
		f.tensors[t.Name] = t
	}
	return f, nil
}

func (f *tensorFile) close() {
	if f.reader != nil {
		_ = f.reader.Close() // nothing was changed in it
	}
}

// read returns a tensor with its data.
func (f *tensorFile) read(name string) (safetensors.Tensor, error) {
	t := f.tensors[name]
	if t.Data != nil {
		return t, nil
	}
	t, err := f.reader.Read(name)
	if err != nil {
		return t, err
	}
	if integers := safetensors.Integers(t.Data); integers != nil {
		t.Data = integers
	}
	f.tensors[name] = t
	return t, nil
}

func (f *tensorFile) has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}

// shape returns a tensor's shape.
func (f *tensorFile) shape(name string) tensor.Shape { return f.tensors[name].Shape }

// fail returns an error about one tensor of the file.
func (f *tensorFile) fail(name, format string, args ...any) error {
	return fmt.Errorf("%s: tensor %.100q: %s", f.path, name, fmt.Sprintf(format, args...))
}

// checkNames checks that the file has all wanted tensors and, apart from optional ones, no others. Its error lists
// missing and unknown names.
func (f *tensorFile) checkNames(layer string, wanted, optional []string) error {
	known := map[string]bool{}
	for _, name := range slices.Concat(wanted, optional) {
		known[name] = true
	}
	var unknown []string
	for _, name := range f.names {
		if !known[name] {
			unknown = append(unknown, fmt.Sprintf("%.100q", name)) // a file may contain any names
		}
	}
	wrong := dense.Mismatch(slices.DeleteFunc(slices.Clone(wanted), f.has), unknown, nil)
	if wrong == nil {
		return nil
	}
	want := nameList(wanted)
	if len(optional) > 0 {
		want += " and optionally " + nameList(optional)
	}
	return fmt.Errorf("%s: %w; want %s for layer %s", f.path, wrong, want, layer)
}

// nameList returns names as one text; a long list is shortened to its first names.
func nameList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return oneline.List(names, 10)
}
