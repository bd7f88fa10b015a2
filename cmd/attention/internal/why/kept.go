package why

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/tasks/reversal"

	"gorgonia.org/tensor"
)

//go:generate sh kept.sh

// kept is the reverse.safetensors of attention why --task reverse --seeds 1, which --view shows.
//
//go:embed kept.safetensors
var kept []byte

// reportKey is the key of the task's report in the metadata of reverse.safetensors.
const reportKey = "report"

// tensors returns the parameters of a rival, by their names in reverse.safetensors.
func (m reverser) tensors(kind reversal.Kind) iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for name, value := range m.Params().All() {
			if !yield(string(kind)+"."+name, value) {
				return
			}
		}
	}
}

// keepRivals writes reverse.safetensors: the models of the first seed, in half precision, and their results.
func (c *comparison) keepRivals(r *taskReport, models []learner) error {
	first := *r
	first.Models = nil
	for _, m := range r.Models {
		m.Loss, m.Exact = m.Loss[:1], m.Exact[:1]
		first.Models = append(first.Models, m)
	}
	first.Seconds = 0 // so that equal models have equal files
	text, err := json.Marshal(first)
	if err != nil {
		return err
	}
	f := &safetensors.File{Metadata: map[string]string{reportKey: string(text)}}
	for i, m := range models {
		for name, value := range m.(reverser).tensors(rivals[i].kind) {
			half := safetensors.Stream{DType: safetensors.F16,
				Each: func(write func(any) error) error { return write(value.Float32s()) }}
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Shape: value.Shape(), Data: half})
		}
	}
	return c.Write("reverse.safetensors", func(w io.Writer) error { return safetensors.Write(w, f) })
}

// readRivals returns the models of a reverse.safetensors, and their results.
func readRivals(file []byte) (models []reverser, r taskReport, err error) {
	f, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, r, err
	}
	if err := json.Unmarshal([]byte(f.Metadata[reportKey]), &r); err != nil {
		return nil, r, fmt.Errorf("%s: %w", reportKey, err)
	}
	for _, rival := range rivals {
		m, err := reversal.New(layers.NewParams(tensor.Float32, 1).Scope(""), rival.kind)
		if err != nil {
			return nil, r, err
		}
		models = append(models, reverser{m})
		for name, value := range models[len(models)-1].tensors(rival.kind) {
			t, ok := f.Get(name)
			if !ok || !value.Shape().Eq(tensor.Shape(t.Shape)) {
				return nil, r, fmt.Errorf("%s: got shape %v, want %v", name, t.Shape, value.Shape())
			}
			dense.SetSlice(value, t.Data)
		}
	}
	return models, r, nil
}
