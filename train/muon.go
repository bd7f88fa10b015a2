package train

import (
	"math"
	"runtime"
	"sync/atomic"

	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// moveMatrices updates the parameters of these numbers as Muon does, each on one core: the products of one are small.
func (s *Solver) moveMatrices(lr float64, params []Param, numbers []int) {
	workers := min(runtime.GOMAXPROCS(0), len(numbers))
	if len(s.rooms) < workers {
		s.rooms = make([]*tensor.Dense, workers)
	}
	var next atomic.Int64
	end := func() {}
	kernel.Parallel(workers, 1, func(worker, _ int) {
		if worker == 0 {
			end = kernel.SideBySide(workers)
		}
		for i := int(next.Add(1)) - 1; i < len(numbers); i = int(next.Add(1)) - 1 {
			at, p := s.slots[numbers[i]], params[numbers[i]]
			room := &s.rooms[worker]
			dense.ByType(at.dtype, muon[float32], muon[float64])(s.config, at, lr*at.factor, p, room)
		}
	})
	end()
}

// muon updates a matrix (m, n) as Muon (Jordan et al. 2024), torch.optim.Muon: by the momentum's gradient
// with all its singular values brought near 1. It makes room larger if it is too small.
func muon[F kernel.Float](c SolverConfig, at slot, lr float64, p Param, room **tensor.Dense) {
	m, n := at.shape[0], at.shape[1]
	value, grad, buffer := dense.Floats[F](p.Value), dense.Floats[F](p.Grad), dense.Floats[F](at.state[0])
	size := m*n + kernel.NewtonSchulzRoom(m, n)
	if r := *room; r == nil || r.Dtype() != at.dtype || r.Shape().TotalSize() < size {
		*room = tensor.New(tensor.Of(at.dtype), tensor.WithShape(size))
	}
	work := dense.Floats[F](*room)
	u, work := work[:m*n], work[m*n:]
	kernel.MuonMomentum(u, grad, buffer, c.Momentum)
	if c.Nesterov != nil && !*c.Nesterov {
		copy(u, buffer)
	}
	u = kernel.NewtonSchulz(u, m, n, c.NSSteps, work)
	kernel.Scale(value, value, F(1-float64(lr*at.decay)))
	kernel.Axpy(-F(lr*c.adjustment(m, n)), u, value)
}

// adjustment returns what Muon multiplies the learning rate of a matrix (m, n) by.
func (c SolverConfig) adjustment(m, n int) float64 {
	if c.AdjustLR == MatchRMSAdamW {
		return 0.2 * math.Sqrt(float64(max(m, n)))
	}
	return math.Sqrt(max(1, float64(m)/float64(n)))
}
