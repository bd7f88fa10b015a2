package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// gradOutput is the input tensor that asks for gradients.
const gradOutput = "grad_output"

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

// checkNames wants exactly the wanted tensors, and the optional ones at most. Its
// error lists all that are missing and all that are unknown.
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

// fail is an error about one tensor of the file.
func (f *tensorFile) fail(name, format string, args ...any) error {
	return fmt.Errorf("%s: tensor %.100q: %s", f.path, name, fmt.Sprintf(format, args...))
}

// shape is a tensor's shape.
func (f *tensorFile) shape(name string) tensor.Shape { return f.tensors[name].Shape }

// checkFloats refuses integers and booleans.
func (f *tensorFile) checkFloats(name string) error {
	switch t := f.tensors[name]; t.Data.(type) {
	case []float32, []float64:
		return nil
	default:
		return f.fail(name, "dtype %s, want F64, F32, F16 or BF16", t.DType)
	}
}

// dense is a tensor in the type dt: float64 is rounded to the nearest float32, all
// else is widened without loss. Its elements must be floating-point numbers.
func (f *tensorFile) dense(name string, dt tensor.Dtype) *tensor.Dense {
	t := f.tensors[name]
	backing := t.Data
	switch data := t.Data.(type) {
	case []float32:
		if dt == tensor.Float64 {
			backing = convertFloats[float64](data)
		}
	case []float64:
		if dt == tensor.Float32 {
			backing = convertFloats[float32](data)
		}
	}
	return tensor.New(tensor.WithShape(t.Shape...), tensor.WithBacking(backing))
}

func convertFloats[To, From float32 | float64](from []From) []To {
	to := make([]To, len(from))
	for i, v := range from {
		to[i] = To(v)
	}
	return to
}

// checkWeights wants the layer's parameters, each of its shape.
func (l *applyLayer) checkWeights(f *tensorFile) error {
	if err := f.checkNames(l.name, l.parameterNames(), l.buffers); err != nil {
		return err
	}
	for _, p := range l.parameters {
		if err := f.checkFloats(p.name); err != nil {
			return err
		}
		if got := f.shape(p.name); !slices.Equal(got, p.shape) {
			return f.fail(p.name, "shape %v, want %v", got, p.shape)
		}
	}
	return nil
}

func (l *applyLayer) parameterNames() []string {
	names := make([]string, len(l.parameters))
	for i, p := range l.parameters {
		names[i] = p.name
	}
	return names
}

// checkInput wants the layer's inputs, as sequences that it can take, with one
// batch size. The shape of grad_output is known only when the graph is.
func (l *applyLayer) checkInput(f *tensorFile) error {
	names := make([]string, len(l.inputs))
	for i, in := range l.inputs {
		names[i] = in.name
	}
	if err := f.checkNames(l.name, names, []string{gradOutput}); err != nil {
		return err
	}
	first := f.shape(names[0])
	for _, in := range l.inputs {
		if err := f.checkFloats(in.name); err != nil {
			return err
		}
		got := f.shape(in.name)
		if !in.fits(got) {
			return f.fail(in.name, "shape %v, want %s with every axis at least 1", got, in)
		}
		if n := got.Dims(); n != first.Dims() || !slices.Equal(got[:n-2], first[:n-2]) {
			return f.fail(in.name, "shape %v, want as many axes and the same B as %s, which is %v", got, names[0], first)
		}
	}
	if f.has(gradOutput) {
		return f.checkFloats(gradOutput)
	}
	return nil
}

// fits says whether a tensor of the shape is such an input.
func (in inputSpec) fits(s tensor.Shape) bool {
	n := s.Dims()
	if n != 2 && n != 3 || slices.Contains(s, 0) {
		return false
	}
	return (in.width == 0 || s[n-1] == in.width) && (in.longest == 0 || s[n-2] <= in.longest)
}

// String is the shape in letters.
func (in inputSpec) String() string {
	length, width := in.length, "d_in"
	if in.longest > 0 {
		length += fmt.Sprintf(" <= %d", in.longest)
	}
	if in.width > 0 {
		width = fmt.Sprint(in.width)
	}
	return fmt.Sprintf("(%s, %s) or (B, %s, %s)", length, width, length, width)
}

// floatSlice is a contiguous tensor's memory, also of one that holds one element.
func floatSlice(t *tensor.Dense) (any, error) {
	if t.RequiresIterator() || t.DataOrder().IsColMajor() {
		return nil, errors.New("is not in row-major order")
	}
	switch data := t.Data().(type) {
	case []float32, []float64:
		return data, nil
	case float32:
		return []float32{data}, nil
	case float64:
		return []float64{data}, nil
	}
	return nil, fmt.Errorf("holds %v, want float32 or float64", t.Dtype())
}

// listed is how many names an error lists.
const listed = 24

// nameList joins names with commas, and counts those that are too many to list.
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
