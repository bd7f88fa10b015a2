package train

import (
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// muonSteps are torch.optim.Muon's ns_steps.
const muonSteps = 5

// muon updates a matrix (m, n) as Muon (Jordan et al. 2024), torch.optim.Muon: by the momentum's gradient
// with all its singular values brought near 1.
func muon[F kernel.Float](s *Solver, at slot, lr float64, p Param) {
	m, n := at.shape[0], at.shape[1]
	value, grad, buffer := dense.Floats[F](p.Value), dense.Floats[F](p.Grad), dense.Floats[F](at.state[0])
	work := dense.Floats[F](s.room(p.Value.Dtype(), m*n+kernel.NewtonSchulzRoom(m, n)))
	u, work := work[:m*n], work[m*n:]
	kernel.MuonMomentum(u, grad, buffer, s.config.Momentum)
	u = kernel.NewtonSchulz(u, m, n, muonSteps, work)
	kernel.Scale(value, value, F(1-float64(lr*at.decay)))
	kernel.Axpy(-F(lr*s.config.adjustment(m, n)), u, value)
}

// adjustment returns what Muon multiplies the learning rate of a matrix (m, n) by.
func (c SolverConfig) adjustment(m, n int) float64 {
	if c.AdjustLR == MatchRMSAdamW {
		return 0.2 * math.Sqrt(float64(max(m, n)))
	}
	return math.Sqrt(max(1, float64(m)/float64(n)))
}

// room returns memory for n elements of a type, which the next call may return again.
func (s *Solver) room(dt tensor.Dtype, n int) *tensor.Dense {
	if s.work == nil || s.work.Dtype() != dt || s.work.Shape().TotalSize() < n {
		s.work = tensor.New(tensor.Of(dt), tensor.WithShape(n))
	}
	return s.work
}
