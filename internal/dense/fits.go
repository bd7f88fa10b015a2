package dense

import "math"

// MaxElements is the largest number of elements of a tensor that this module makes. A larger tensor is a mistake; below
// the limit, products of two sizes fit an int.
const MaxElements = math.MaxInt32

// Fits reports whether a tensor of a shape, whose axes are at least 0, has at most
// MaxElements.
func Fits(shape ...int) bool {
	elements := 1
	for _, d := range shape {
		if d > MaxElements/max(elements, 1) {
			return false
		}
		elements *= d
	}
	return true
}
