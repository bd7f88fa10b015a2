package dense

import (
	"slices"

	"gorgonia.org/tensor"
)

// CopyCorner copies the elements whose indices exist in both tensors: all elements, if the shapes are equal. The
// tensors are row-major and have the same type, of numbers or bools, and the same number of axes.
func CopyCorner(to, from *tensor.Dense) {
	copyCorner(to.Raw, from.Raw, to.Shape(), from.Shape())
}

func copyCorner(to, from []byte, a, b tensor.Shape) {
	if len(a) <= 1 || slices.Equal(a, b) {
		copy(to, from)
		return
	}
	n, m := len(to)/a[0], len(from)/b[0]
	for i := range min(a[0], b[0]) {
		copyCorner(to[i*n:][:n], from[i*m:][:m], a[1:], b[1:])
	}
}
