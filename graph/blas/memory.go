package blas

import (
	"sync"
	"unsafe"

	"attention/internal/kernel"
)

// memory is what a call needs beside its arguments. It is kept for the next call, so that none allocates.
type memory[F kernel.Float] struct{ x, y, block []F }

var memories = [2]sync.Pool{
	{New: func() any { return new(memory[float32]) }},
	{New: func() any { return new(memory[float64]) }},
}

func memoriesOf[F kernel.Float]() *sync.Pool {
	var zero F
	return &memories[unsafe.Sizeof(zero)/8]
}

func borrow[F kernel.Float]() *memory[F] { return memoriesOf[F]().Get().(*memory[F]) }

func (m *memory[F]) giveBack() { memoriesOf[F]().Put(m) }

// room returns n elements of *s, which grows if it must. They hold what was left over.
func room[F kernel.Float](s *[]F, n int) []F {
	const least = 1 << 10
	if cap(*s) < n {
		*s = make([]F, max(n, least))
	}
	return (*s)[:n]
}

// gathered returns the elements of a vector, side by side: where they are, or copied to *s.
func gathered[F kernel.Float](s *[]F, x []F, n, inc int) []F {
	if inc == 1 {
		return x[:n]
	}
	y := room(s, n)
	for i, at := 0, first(n, inc); i < n; i, at = i+1, at+inc {
		y[i] = x[at]
	}
	return y
}

// scatter writes the elements of y, unless they are where they belong already, to the vector x.
func scatter[F kernel.Float](y, x []F, inc int) {
	if inc == 1 {
		return
	}
	for i, at := 0, first(len(y), inc); i < len(y); i, at = i+1, at+inc {
		x[at] = y[i]
	}
}

// first returns where the first element of a vector is: with a negative increment, behind the others.
func first(n, inc int) int { return max(0, -(n-1)*inc) }
