package train

import (
	"attention/internal/dense"
	"attention/internal/kernel"
)

// sgd updates a parameter by stochastic gradient descent with momentum, as torch.optim.SGD
// without dampening and Nesterov's variant.
func sgd[F kernel.Float](s *Solver, at slot, lr float64, p Param) {
	value, grad := part[F](p.Value, at.own), part[F](p.Grad, at.own)
	if s.config.Momentum == 0 {
		kernel.SGD(value, grad, F(lr), F(at.decay))
		return
	}
	kernel.Momentum(value, grad, dense.Floats[F](at.state[0]), F(lr), F(s.config.Momentum), F(at.decay))
}
