package record

import (
	"encoding/json"
	"maps"
	"slices"

	"attention/internal/about"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// Keys and prefixes of names in watch.safetensors besides its tensors and notes.
const (
	format       = "attention watch 1"
	formatKey    = "format"
	stepsKey     = "steps"  // steps of the records whose tensors are kept, as a JSON list
	notesPrefix  = "notes." // before the keys of Probe.Notes
	probePrefix  = "probe."
	matrixPrefix = "matrix."
)

// keptTensor is a tensor that every record has.
type keptTensor struct {
	name  string
	shape tensor.Shape
	read  func() []float32
}

// kept are tensors of some records of a run.
type kept struct {
	steps  []int
	values map[string][][]float32 // of each tensor, at each step
}

// add adds the tensors of a record, unless it has those of this step.
func (m *kept) add(step int, tensors []keptTensor) {
	if n := len(m.steps); n > 0 && m.steps[n-1] >= step {
		return
	}
	m.steps = append(m.steps, step)
	if m.values == nil {
		m.values = map[string][][]float32{}
	}
	for _, t := range tensors {
		m.values[t.name] = append(m.values[t.name], t.read())
	}
}

// thin removes records if there are more than mostTimes. The first one, the last one and every second, fourth, … of an
// index stay. The choice depends on nothing else, so that a resumed run keeps the same ones.
func (m *kept) thin(index func(step int) (i int, ok bool)) {
	last := len(m.steps) - 1
	newest, _ := index(m.steps[last])
	stride := 1
	for newest/stride >= mostTimes-2 {
		stride *= 2
	}
	m.keep(func(i int) bool {
		n, ok := index(m.steps[i])
		return i == 0 || i == last || ok && n%stride == 0
	})
}

// keep keeps the tensors of some records.
func (m *kept) keep(stays func(i int) bool) {
	var steps []int
	values := map[string][][]float32{}
	for i, step := range m.steps {
		if !stays(i) {
			continue
		}
		steps = append(steps, step)
		for name, all := range m.values {
			values[name] = append(values[name], all[i])
		}
	}
	m.steps, m.values = steps, values
}

// file returns the tensors in the form of watch.safetensors.
func (m *kept) file(tensors []keptTensor, notes map[string]string) (*safetensors.File, error) {
	at, err := json.Marshal(m.steps)
	if err != nil {
		return nil, err
	}
	f := &safetensors.File{Metadata: map[string]string{formatKey: format, stepsKey: string(at)}}
	about.Put(f.Metadata, notesPrefix, notes)
	for _, t := range tensors {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: t.name,
			Shape: append([]int{len(m.steps)}, t.shape...), Data: slices.Concat(m.values[t.name]...)})
	}
	return f, nil
}

// set reads the tensors of a file up to a step, if the file has the tensors and notes of this run.
func (m *kept) set(w *Recording, until int, tensors []keptTensor, notes map[string]string) {
	*m = kept{}
	if !maps.Equal(w.Notes, notes) || len(w.tensors) != len(tensors) {
		return
	}
	values := map[string][][]float32{}
	for _, t := range tensors {
		got, ok := w.tensors[t.name]
		if !ok || !slices.Equal(got.Shape()[1:], t.shape) {
			return
		}
		values[t.name] = slices.Collect(slices.Chunk(got.Float32s(), t.shape.TotalSize()))
	}
	*m = kept{w.Steps, values}
	m.keep(func(i int) bool { return m.steps[i] <= until })
}
