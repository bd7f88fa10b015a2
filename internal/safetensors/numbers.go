package safetensors

// Number is an element that is a number.
type Number interface {
	float64 | float32 | int64 | int32 | int16 | int8 | uint8
}

// Convert returns a copy of numbers in another type.
func Convert[To, From Number](from []From) []To {
	to := make([]To, len(from))
	for i, v := range from {
		to[i] = To(v)
	}
	return to
}

// Floats returns a copy of a tensor's data in a floating-point type, or nil if they have another type.
func Floats[F float32 | float64](data any) []F {
	switch data := data.(type) {
	case []float64:
		return Convert[F](data)
	case []float32:
		return Convert[F](data)
	}
	return nil
}

// Integers returns a copy of a tensor's data as int64s, or nil if they are not integers.
func Integers(data any) []int64 {
	switch data := data.(type) {
	case []int64:
		return Convert[int64](data)
	case []int32:
		return Convert[int64](data)
	case []int16:
		return Convert[int64](data)
	case []int8:
		return Convert[int64](data)
	case []uint8:
		return Convert[int64](data)
	}
	return nil
}
