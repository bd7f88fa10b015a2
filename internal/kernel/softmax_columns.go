package kernel

import (
	"math"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// Columns describes distributions with strided elements: in an array (…, N, Inner), each column of N elements is a
// distribution, of probabilities or of their logarithms.
type Columns struct {
	N, Inner int
	Log      bool
}

// columnsWidth is the number of columns that are computed together.
const columnsWidth = 128

// split returns the number of parts of columnsWidth columns in n elements, and how many of them justify a goroutine.
func (c Columns) split(n int) (parts, grain int) {
	wide := (c.Inner + columnsWidth - 1) / columnsWidth
	return n / (c.N * c.Inner) * wide, rowGrain(grainSlow, c.N*min(c.Inner, columnsWidth))
}

// part returns the beginning of part i, and its number of columns.
func (c Columns) part(i int) (at, width int) {
	wide := (c.Inner + columnsWidth - 1) / columnsWidth
	from := i % wide * columnsWidth
	return i/wide*c.N*c.Inner + from, min(columnsWidth, c.Inner-from)
}

// SoftmaxColumns writes the softmax of every column of x, or its logarithm, to y, which may be x. For columns of −∞,
// and with a NaN or +∞, see Softmax and LogSoftmax.
func SoftmaxColumns[F Float](y, x []F, c Columns) {
	fit("softmax columns", len(x), len(y))
	fitRows("softmax columns", len(x), c.N*c.Inner)
	parts, grain := c.split(len(x))
	parallel.Do(softmaxColumnsCall[F]{y, x, c}, parts, grain)
}

type softmaxColumnsCall[F Float] struct {
	y, x []F
	Columns
}

func (c softmaxColumnsCall[F]) Do(lo, hi int) {
	var topRoom, room [columnsWidth]F
	var sumRoom [columnsWidth]float64
	for i := lo; i < hi; i++ {
		at, width := c.part(i)
		top, e, sum := topRoom[:width], room[:width], sumRoom[:width]
		for j := range top {
			top[j], sum[j] = simd.NegInf[F](), 0
		}
		for k := range c.N {
			for j, v := range c.x[at+k*c.Inner:][:width] {
				if v > top[j] {
					top[j] = v
				}
			}
		}
		for j, v := range top {
			top[j] = simd.RowShift(v)
		}
		for k := range c.N {
			for j, v := range c.x[at+k*c.Inner:][:width] {
				e[j] = v - top[j]
			}
			simd.Exp(e, e)
			for j, v := range e {
				sum[j] += float64(v)
			}
			if !c.Log {
				copy(c.y[at+k*c.Inner:], e)
			}
		}
		c.finish(at, top, sum)
	}
}

// finish divides by the sums, or subtracts their logarithms. Columns whose sum is 0 are left unchanged.
func (c softmaxColumnsCall[F]) finish(at int, top []F, sum []float64) {
	for j, s := range sum {
		switch {
		case c.Log && s != 0:
			sum[j] = float64(top[j]) + math.Log(s)
		case s != 0:
			sum[j] = 1 / s
		}
	}
	for k := range c.N {
		y := c.y[at+k*c.Inner:][:len(sum)]
		if !c.Log {
			for j, v := range y {
				y[j] = F(float64(v) * sum[j])
			}
			continue
		}
		for j, v := range c.x[at+k*c.Inner:][:len(sum)] {
			y[j] = F(float64(v) - sum[j])
		}
	}
}

// SoftmaxColumnsBackward writes the gradient of the input of SoftmaxColumns, computed from its output and the output's
// gradient, to dx, which may be y or dy. The gradient of a column of −∞ is 0.
func SoftmaxColumnsBackward[F Float](dx, y, dy []F, c Columns) {
	fit("softmax columns backward", len(y), len(dy), len(dx))
	fitRows("softmax columns backward", len(y), c.N*c.Inner)
	parts, grain := c.split(len(y))
	parallel.Do(softmaxColumnsBackwardCall[F]{dx, y, dy, c}, parts, grain)
}

type softmaxColumnsBackwardCall[F Float] struct {
	dx, y, dy []F
	Columns
}

func (c softmaxColumnsBackwardCall[F]) Do(lo, hi int) {
	var room, topRoom [columnsWidth]F
	var sumRoom [columnsWidth]float64
	for i := lo; i < hi; i++ {
		at, width := c.part(i)
		p, sum, top := room[:width], sumRoom[:width], topRoom[:width]
		clear(sum)
		for j := range top {
			top[j] = simd.NegInf[F]()
		}
		for k := range c.N {
			y := c.y[at+k*c.Inner:][:width]
			for j, v := range c.dy[at+k*c.Inner:][:width] {
				if c.Log {
					sum[j] += float64(v)
					top[j] = simd.Larger(top[j], y[j])
				} else {
					sum[j] += float64(v) * float64(y[j])
				}
			}
		}
		for k := range c.N {
			y, dy := c.y[at+k*c.Inner:][:width], c.dy[at+k*c.Inner:][:width]
			dx := c.dx[at+k*c.Inner:][:width]
			if !c.Log {
				for j, v := range y {
					dx[j] = v * (dy[j] - F(sum[j]))
				}
				continue
			}
			simd.Exp(p, y)
			for j, v := range p {
				if dx[j] = dy[j] - v*F(sum[j]); top[j] == simd.NegInf[F]() {
					dx[j] = 0
				}
			}
		}
	}
}
