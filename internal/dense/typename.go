package dense

import "gorgonia.org/tensor"

// TypeName returns the name of a type for an error message. It takes the zero Dtype too, with which
// formatting panics.
func TypeName(dt tensor.Dtype) string {
	if dt.Type == nil {
		return "no type"
	}
	return dt.String()
}
