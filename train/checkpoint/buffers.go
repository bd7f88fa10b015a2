package checkpoint

import (
	"cmp"
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
)

// buffers are the tensors of a file that are no parameters, by name.
type buffers map[string]layers.CausalBuffer

// buffersIn returns the buffers of parameters that a file holds.
func buffersIn(r *safetensors.Reader, p *layers.Params) buffers {
	here := buffers{}
	for name, b := range p.Buffers() {
		if slices.ContainsFunc(r.Tensors(), func(t safetensors.Tensor) bool { return t.Name == name }) {
			here[name] = b
		}
	}
	return here
}

// bytes returns the most memory that they may take.
func (b buffers) bytes() (n int64) {
	const longest, widest = 1 << 14, 8 // of a mask of any context length, of an element
	for _, buffer := range b {
		c := int64(cmp.Or(buffer.ContextLength, longest))
		n += widest * c * c
	}
	return n
}

// without returns the signatures of the parameters alone.
func (b buffers) without(all []dense.Signature) []dense.Signature {
	return slices.DeleteFunc(all, func(s dense.Signature) bool { _, ok := b[s.Name]; return ok })
}

// check refuses a buffer that hides other keys than the layer does.
func (b buffers) check(f *safetensors.File, path string) error {
	for name, buffer := range b {
		t, _ := f.Get(name)
		v, err := fromTensor(t)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := buffer.Check(v); err != nil {
			return fmt.Errorf("%s: tensor %.100q: %w", path, name, err)
		}
	}
	return nil
}
