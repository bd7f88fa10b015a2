package dense

import "gorgonia.org/tensor"

// TypeName returns the name of a type for an error message. It accepts the zero Dtype, whose formatting panics.
func TypeName(dt tensor.Dtype) string {
	switch {
	case dt.Type == nil:
		return "no type"
	case dt == BF16:
		return "bfloat16"
	case formats[dt] != nil:
		return formats[dt].name
	}
	return dt.String()
}
