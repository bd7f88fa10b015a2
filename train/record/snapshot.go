package record

import (
	"math"

	"attention/internal/dense"
	"attention/layers"

	"gorgonia.org/tensor"
)

// Moved is a parameter with a copy of its value at an earlier time.
type Moved struct {
	Name        string
	Before, Now *tensor.Dense
}

// Snapshot copies the values of parameters: of all, or if they are more than most, of the first of so many and the
// given number of last ones.
func Snapshot(p *layers.Params, most, last int) (all []Moved) {
	if p == nil {
		return nil
	}
	i, n := 0, p.Len()
	for name, value := range p.All() {
		if n <= most || i < most-last || i >= n-last {
			all = append(all, Moved{name, value.Clone().(*tensor.Dense), value})
		}
		i++
	}
	return all
}

// Norms returns the Euclidean norms of the two values and of their difference; NaN unless they are of one type and shape.
func (m Moved) Norms() (before, now, change float64) {
	if !dense.IsTensor(m.Before) || !dense.IsTensor(m.Now) || !dense.IsFloat(m.Now.Dtype()) ||
		dense.Form(m.Before) != dense.Form(m.Now) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return dense.ByType(m.Now.Dtype(), normsOf[float32], normsOf[float64])(m)
}

func normsOf[F float32 | float64](m Moved) (before, now, change float64) {
	was, is := dense.Floats[F](m.Before), dense.Floats[F](m.Now)
	for i := range is {
		b, a := float64(was[i]), float64(is[i])
		before, now, change = before+b*b, now+a*a, change+(a-b)*(a-b)
	}
	return math.Sqrt(before), math.Sqrt(now), math.Sqrt(change)
}
