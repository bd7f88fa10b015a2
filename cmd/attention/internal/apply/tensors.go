package apply

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// tensorFile is a safetensors file by the names of its tensors.
type tensorFile struct {
	path    string
	names   []string // in the order of their data
	tensors map[string]safetensors.Tensor
}

func readTensorFile(path string) (*tensorFile, error) {
	file, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &tensorFile{path: path, tensors: map[string]safetensors.Tensor{}}
	for _, t := range file.Tensors {
		f.names = append(f.names, t.Name)
		f.tensors[t.Name] = t
	}
	return f, nil
}

func (f *tensorFile) has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}

// checkNames checks that the file has all wanted tensors and no others but the optional
// ones. Its error lists all missing and all unknown names.
func (f *tensorFile) checkNames(layer string, wanted, optional []string) error {
	expected := map[string]bool{}
	var missing, unknown []string
	for _, name := range wanted {
		expected[name] = true
		if !f.has(name) {
			missing = append(missing, name)
		}
	}
	for _, name := range optional {
		expected[name] = true
	}
	for _, name := range f.names {
		if !expected[name] {
			unknown = append(unknown, name)
		}
	}
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

// fail returns an error about one tensor of the file.
func (f *tensorFile) fail(name, format string, args ...any) error {
	return fmt.Errorf("%s: tensor %.100q: %s", f.path, name, fmt.Sprintf(format, args...))
}

// shape returns a tensor's shape.
func (f *tensorFile) shape(name string) tensor.Shape { return f.tensors[name].Shape }

// checkWeights checks that the file has the layer's parameters, each in its shape.
func (l *layer) checkWeights(f *tensorFile) error {
	if err := f.checkNames(l.name, l.parameterNames(), l.buffers); err != nil {
		return err
	}
	for name, want := range l.parameters.Shapes() {
		if err := f.checkKind(name, realNumbers); err != nil {
			return err
		}
		if got := f.shape(name); !slices.Equal(got, want) {
			return f.fail(name, "shape %v, want %v", got, want)
		}
	}
	return nil
}

func (l *layer) parameterNames() (names []string) {
	for name := range l.parameters.Shapes() {
		names = append(names, name)
	}
	return names
}

// listed is the maximum number of names in an error.
const listed = 24

// nameList joins up to listed names with commas and counts the rest.
func nameList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	list := strings.Join(names[:min(len(names), listed)], ", ")
	if more := len(names) - listed; more > 0 {
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
