package kernel

import (
	"math"

	"attention/internal/parallel"
)

// MuonMomentum is the momentum μ of Muon, in Nesterov's form:
//
//	buffer = buffer + (1 − μ)·(grad − buffer)
//	update = grad + μ·(buffer − grad)
func MuonMomentum[F Float](update, grad, buffer []F, momentum float64) {
	fit("muon momentum", len(update), len(grad), len(buffer))
	keep, rest := F(momentum), F(1-momentum)
	parallel.For(len(update), grainFast, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b := buffer[i] + F(rest*(grad[i]-buffer[i]))
			buffer[i], update[i] = b, grad[i]+F(keep*(b-grad[i]))
		}
	})
}

// The coefficients of the quintic in Muon's Newton–Schulz iteration, and the smallest norm by which it divides.
const (
	newtonA, newtonB, newtonC = 3.4445, -4.775, 2.0315
	newtonEps                 = 1e-7
)

// NewtonSchulzRoom returns how many elements of work NewtonSchulz needs for a matrix (rows, cols).
func NewtonSchulzRoom(rows, cols int) int {
	n := min(rows, cols)
	return rows*cols + 2*n*n
}

// NewtonSchulz brings the singular values of a matrix (rows, cols) near 1 and returns it, in x or in work (Jordan et
// al. 2024; torch.optim.Muon, which rounds each product to bfloat16). X is first divided by its norm. With the
// quintic's coefficients a, b and c, one step is
//
//	A = X·Xᵀ;  X = a·X + (b·A + c·A·A)·X
//
// and, for more rows than columns, the same with Xᵀ.
func NewtonSchulz[F Float](x []F, rows, cols, steps int, work []F) []F {
	n, size := min(rows, cols), rows*cols
	next, gram, poly := work[:size], work[size:size+n*n], work[size+n*n:size+2*n*n]
	Scale(x, x, F(1/max(math.Sqrt(SumSquares(x)), newtonEps)))
	for range steps {
		wide, a, b := Rows(x, cols).Op(rows > cols), Rows(gram, n), Rows(poly, n)
		Product[F]{M: n, N: n, K: size / n, Alpha: 1, A: wide, B: wide.T(), C: a, symmetric: true}.Compute()
		copy(poly, gram)
		Product[F]{M: n, N: n, K: n, Alpha: newtonC, A: a, B: a, Beta: newtonB, C: b, symmetric: true}.Compute()
		copy(next, x)
		update := Product[F]{M: rows, N: cols, K: n, Alpha: 1, A: b, B: Rows(x, cols), Beta: newtonA,
			C: Rows(next, cols)}
		if rows > cols {
			update.A, update.B = update.B, b
		}
		update.Compute()
		x, next = next, x
	}
	return x
}
