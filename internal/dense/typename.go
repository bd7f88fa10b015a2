package dense

import "gorgonia.org/tensor"

// TypeName returns a type's name for an error, also that of a tensor of no type, the zero
// value, at which formatting panics.
func TypeName(dt tensor.Dtype) string {
	if dt.Type == nil {
		return "no type"
	}
	return dt.String()
}
