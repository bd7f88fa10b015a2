package pretrained

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// adapterFile is an adapter_model.safetensors. The names of its tensors are normalised: the modules have their names in
// the model, and the adapter of an embedding is lora_A (r, E) and lora_B (V, r), like that of a linear map.
type adapterFile struct {
	reader  *safetensors.Reader
	tensors map[string]adapterTensor
	places  map[string]place     // of the parameters
	added   map[string]addedBias // added to the biases that are parameters
}

// adapterTensor is a tensor with its shape under the normalised name; it may have to be transposed.
type adapterTensor struct {
	safetensors.Tensor
	transposed bool
}

// addedBias is an adapter's bias with its place and scale.
type addedBias struct {
	place
	scale float64
}

// Ends of names in the file that normalising removes.
const (
	loraBias   = ".lora_B.bias"
	loraTableA = ".lora_embedding_A" // (r, V)
	loraTableB = ".lora_embedding_B" // (E, r)
	baseWeight = ".base_layer.weight"
	baseBias   = ".base_layer.bias"
)

// openAdapter returns the tensors of a file. It leaves out tensors that PEFT does not read, and copies of the model's
// own weights, which must equal them.
func (t *target) openAdapter(r *safetensors.Reader) (*adapterFile, error) {
	f := &adapterFile{reader: r, tensors: map[string]adapterTensor{}, places: map[string]place{},
		added: map[string]addedBias{}}
	head := adapterPrefix + strings.TrimSuffix(t.family.weights.head, "weight")
	for _, s := range r.Tensors() {
		of, name := adapterTensor{s, false}, s.Name
		if rest, ok := strings.CutPrefix(name, head); ok { // as transformers 4 calls GPT-NeoX's modules
			name = headModule + "." + rest
		}
		switch {
		case strings.Contains(name, ".original_module.") || strings.Contains(name, ".modules_to_save."):
			continue
		case strings.HasSuffix(name, baseWeight):
			if err := t.checkCopy(r, s, strings.TrimSuffix(name, baseWeight)); err != nil {
				return nil, err
			}
			continue
		}
		for end, plain := range map[string]string{baseBias: ".bias", loraTableA: loraB, loraTableB: loraA} {
			if stem, ok := strings.CutSuffix(name, end); ok {
				name, of.transposed = stem+plain, end != baseBias && len(s.Shape) == 2
			}
		}
		if of.transposed {
			of.Shape = []int{s.Shape[1], s.Shape[0]}
		}
		if f.has(name) {
			return nil, fmt.Errorf("tensor %.100q comes twice", name)
		}
		f.tensors[name] = of
	}
	return f, nil
}

// checkCopy returns an error for a copy of a module's weight that differs from the model's.
func (t *target) checkCopy(r *safetensors.Reader, s safetensors.Tensor, module string) error {
	for name, value := range t.Params.All() {
		at := t.placeOf(name)
		is, kind := t.moduleOf(at)
		tied := module == headModule && at.name == t.family.weights.tokens && t.Model.Config().TieWordEmbeddings
		if (is != module && !tied) || kind != ".weight" || at.of > 0 {
			continue
		}
		copied := make([]float64, tensor.Shape(s.Shape).TotalSize())
		if err := safetensors.ReadFloats(r, s.Name, copied); err != nil {
			return err
		}
		if slices.Equal(s.Shape, value.Shape()) && slices.Equal(copied, dense.Float64s(value)) {
			return nil
		}
		return fmt.Errorf("%.100s: got other numbers than the model's, want an adapter of this model", s.Name)
	}
	return fmt.Errorf("unknown %.100q", s.Name)
}

// has reports whether the file has a tensor with a normalised name.
func (f *adapterFile) has(name string) bool {
	_, ok := f.tensors[name]
	return ok
}

// hasModule reports whether the file has tensors of a module.
func (f *adapterFile) hasModule(module string) bool {
	for name := range f.tensors {
		if strings.HasPrefix(name, module+".") {
			return true
		}
	}
	return false
}

// floats returns the numbers of the tensor with a normalised name.
func (f *adapterFile) floats(name string) ([]float64, error) {
	s := f.tensors[name]
	data := make([]float64, tensor.Shape(s.Shape).TotalSize())
	if err := safetensors.ReadFloats(f.reader, s.Name, data); err != nil || !s.transposed {
		return data, err
	}
	turned := make([]float64, len(data))
	transpose(turned, data, s.Shape[0])
	return turned, nil
}

// part returns the numbers of a parameter with a shape and a place.
func (f *adapterFile) part(at place, shape tensor.Shape) ([]float64, error) {
	whole, err := f.floats(at.name)
	if err != nil || at.plain() {
		return whole, err
	}
	data := make([]float64, shape.TotalSize())
	at.arrange(dense.Bytes(data), dense.Bytes(whole), at.shape(shape), 8)
	return data, nil
}
