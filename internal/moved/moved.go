// Package moved compares tensors with copies of their earlier values.
package moved

import (
	"iter"
	"math"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Tensor is a tensor by its name, with a copy of its value at an earlier time.
type Tensor struct {
	Name        string
	Before, Now *tensor.Dense
}

// Snapshot copies n tensors, such as a model's parameters: all of them or, if n is larger than most, most of them: the
// given number of last ones, and the first ones.
func Snapshot(tensors iter.Seq2[string, *tensor.Dense], n, most, last int) (all []Tensor) {
	i := 0
	for name, value := range tensors {
		if n <= most || i < most-last || i >= n-last {
			all = append(all, Tensor{name, value.Clone().(*tensor.Dense), value})
		}
		i++
	}
	return all
}

// Norms returns the Euclidean norms of the two values and of their difference. The values are float32 or float64.
func (t Tensor) Norms() (before, now, change float64) {
	return dense.ByType(t.Now.Dtype(), normsOf[float32], normsOf[float64])(t)
}

func normsOf[F float32 | float64](t Tensor) (before, now, change float64) {
	was, is := dense.Floats[F](t.Before), dense.Floats[F](t.Now)
	for i := range is {
		b, a := float64(was[i]), float64(is[i])
		before, now, change = before+b*b, now+a*a, change+(a-b)*(a-b)
	}
	return math.Sqrt(before), math.Sqrt(now), math.Sqrt(change)
}
