package train

import (
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"
)

// adam updates a parameter as Adam (Kingma and Ba, arXiv:1412.6980), torch.optim.Adam,
// or with decoupled decay AdamW (Loshchilov and Hutter, arXiv:1711.05101),
// torch.optim.AdamW. Its constants are computed in float64, as by PyTorch, and rounded to
// the parameter's dtype.
func adam[F kernel.Float](s *Solver, at slot, lr float64, p Param) {
	c, t := s.config, float64(s.steps.Int64s()[0])
	k := kernel.AdamConstants[F]{
		Keep:  1,
		Beta1: F(c.Beta1), Rest1: F(1 - c.Beta1),
		Beta2: F(c.Beta2), Rest2: F(1 - c.Beta2),
		Rate: F(lr / (1 - math.Pow(c.Beta1, t))),
		Root: F(math.Sqrt(1 - math.Pow(c.Beta2, t))),
		Eps:  F(c.Eps),
	}
	if at.solver == AdamW {
		k.Keep = F(1 - float64(lr*at.decay)) // rounded twice, on every processor
	} else {
		k.Decay = F(at.decay)
	}
	kernel.Adam(part[F](p.Value, at.own), part[F](p.Grad, at.own),
		dense.Floats[F](at.state[0]), dense.Floats[F](at.state[1]), k)
}
