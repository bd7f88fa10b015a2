package checkpoint

import (
	"cmp"
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
)

// buffers maps the names of a file's tensors that are buffers, not parameters, to their context lengths; 0 means any
// length.
type buffers map[string]int

// buffersIn returns the buffers of parameters that a file holds.
func buffersIn(r *safetensors.Reader, p *layers.Params) buffers {
	here := buffers{}
	for name, n := range p.Buffers() {
		if slices.ContainsFunc(r.Tensors(), func(t safetensors.Tensor) bool { return t.Name == name }) {
			here[name] = n
		}
	}
	return here
}

// bytes returns the largest memory that the buffers may take.
func (b buffers) bytes() (n int64) {
	const longest, widest = 1 << 14, 8 // of a mask for any context length, per element
	for _, length := range b {
		c := int64(cmp.Or(length, longest))
		n += widest * c * c
	}
	return n
}

// without returns the signatures of the parameters alone.
func (b buffers) without(all []dense.Signature) []dense.Signature {
	return slices.DeleteFunc(all, func(s dense.Signature) bool { _, ok := b[s.Name]; return ok })
}

// check returns an error for a buffer that hides other keys than the layer does.
func (b buffers) check(f *safetensors.File, path string) error {
	for name, length := range b {
		t, _ := f.Get(name)
		v, err := fromTensor(t)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := layers.CheckCausalMask(v, length); err != nil {
			return fmt.Errorf("%s: tensor %.100q: %w", path, name, err)
		}
	}
	return nil
}
