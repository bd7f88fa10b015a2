package record

import (
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// param is a parameter whose norms every record has.
type param struct {
	name     string
	value    *tensor.Dense
	gradient int   // index among the trained parameters; −1 otherwise
	at       []int // indices of the elements whose changes are measured; nil for all

	// start and last are copies of those elements, before the first record and at the last
	// one; nil for a parameter that is not trained.
	start, last *tensor.Dense
}

// newParam returns a parameter. If it is trained, gradient is its index among the trained parameters.
func newParam(name string, value *tensor.Dense, gradient int, trained bool) *param {
	p := &param{name: name, value: value, gradient: gradient}
	if !trained {
		return p
	}
	n := value.Shape().TotalSize()
	if n > mostElements {
		p.at, n = spread(n, mostElements), mostElements
	}
	p.start = tensor.New(tensor.Of(value.Dtype()), tensor.WithShape(n))
	p.last = p.start.Clone().(*tensor.Dense)
	return p
}

// spread returns m indices below n, one in each m-th part, at positions independent of the rows of a matrix.
func spread(n, m int) []int {
	at := make([]int, m)
	for i := range at {
		from, to := i*n/m, (i+1)*n/m
		_, part := math.Modf(float64(i) * math.Phi)
		at[i] = from + int(part*float64(to-from))
	}
	return at
}

// keep copies the measured elements to start and last.
func (p *param) keep() {
	if p.last == nil {
		return
	}
	copyAt(p.last, p.value, p.at)
	dense.SetSlice(p.start, dense.Slice(p.last))
}

// move returns the norms and copies the measured elements to last.
func (p *param) move(norms []float64) Param {
	w := Param{Name: p.name, Norm: Number(norm(p.value)), Gradient: Number(math.NaN())}
	if p.last == nil {
		return w
	}
	w.Change, w.ChangeFromStart = dense.ByType(p.value.Dtype(), changes[float32], changes[float64])(p)
	w.Gradient = Number(norms[p.gradient])
	copyAt(p.last, p.value, p.at)
	return w
}

// norm returns the Euclidean norm of a tensor, summed in float64.
func norm(d *tensor.Dense) float64 {
	return math.Sqrt(dense.ByType(d.Dtype(), sumSquares[float32], sumSquares[float64])(d))
}

func sumSquares[F kernel.Float](d *tensor.Dense) float64 {
	return kernel.SumSquares(dense.Floats[F](d))
}

// changes returns the norms of the changes since the last record and since the start. They are estimated from the
// measured elements.
func changes[F kernel.Float](p *param) (sinceLast, sinceStart Number) {
	value, was, first := dense.Floats[F](p.value), dense.Floats[F](p.last), dense.Floats[F](p.start)
	var last, start float64
	for i := range was {
		at := i
		if p.at != nil {
			at = p.at[i]
		}
		v := float64(value[at])
		a, b := v-float64(was[i]), v-float64(first[i])
		last, start = last+float64(a*a), start+float64(b*b)
	}
	share := float64(len(value)) / float64(len(was))
	return Number(math.Sqrt(share * last)), Number(math.Sqrt(share * start))
}

// copyAt copies the elements with the given indices, or all, to a vector.
func copyAt(to, from *tensor.Dense, at []int) {
	if at == nil {
		dense.SetSlice(to, dense.Slice(from))
		return
	}
	dense.ByType(to.Dtype(), gather[float32], gather[float64])(to, from, at)
}

func gather[F kernel.Float](to, from *tensor.Dense, at []int) {
	y, x := dense.Floats[F](to), dense.Floats[F](from)
	for i, j := range at {
		y[i] = x[j]
	}
}
