package apply

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// tensorFile is an open safetensors file by the names of its tensors, whose data is read once it is needed: after their
// names and shapes are known to be right. Integers of any type are int64s.
type tensorFile struct {
	path    string
	reader  *safetensors.Reader
	names   []string // in the order of their data
	tensors map[string]safetensors.Tensor
}

// openTensorFile opens a file of no more bytes than a tensor may have, and checks its seal if it has one.
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
		_ = f.reader.Close() // nothing was written to it
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
	t.Data = widened(t.Data)
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

// checkNames checks that the file has all wanted tensors and no others but the optional
// ones. Its error lists all missing and all unknown names.
func (f *tensorFile) checkNames(layer string, wanted, optional []string) error {
	known := map[string]bool{}
	for _, name := range slices.Concat(wanted, optional) {
		known[name] = true
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), f.has)
	unknown := slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return known[name] })
	var wrong string
	if len(missing) > 0 {
		wrong += "tensors missing: " + quotedList(missing) + "; "
	}
	if len(unknown) > 0 {
		wrong += "tensors unknown: " + quotedList(unknown) + "; "
	}
	if wrong == "" {
		return nil
	}
	want := nameList(wanted)
	if len(optional) > 0 {
		want += " and optionally " + nameList(optional)
	}
	return fmt.Errorf("%s: %swant %s for layer %s", f.path, wrong, want, layer)
}

// nameList joins names with commas, the first ones of a long list, and counts the rest.
func nameList(names []string) string {
	const most = 24
	if len(names) == 0 {
		return "none"
	}
	list := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// quotedList is nameList for names from a file, which may be anything.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%.100q", name)
	}
	return nameList(quoted)
}
