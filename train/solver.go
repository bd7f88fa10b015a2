package train

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"
	"attention/internal/simd"

	"gorgonia.org/tensor"
)

// Solver updates parameters from their gradients. It is made for one model's parameters (SolverConfig.New) and is not
// safe for concurrent use.
type Solver struct {
	config SolverConfig // resolved
	slots  []slot
	steps  *tensor.Dense   // (1), int64: steps taken; nil if the updates do not depend on it
	rooms  []*tensor.Dense // memory for concurrent updates of Muon; nil before the first
}

// New makes the solver for these parameters. It reads their names and values; gradients may still be nil. These are
// errors: parameters without a name or with the same name, one tensor under two names, values that are not contiguous
// float32 or float64, and groups that match no parameter or a parameter of another group.
func (c SolverConfig) New(params []Param) (*Solver, error) {
	slots, err := c.slots(params)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return c.newSolver(slots), nil
}

// newSolver returns a solver that updates each slot's own elements, and has a state for those only.
func (c SolverConfig) newSolver(slots []slot) *Solver {
	c = c.resolved()
	s := &Solver{config: c, slots: slots}
	if c.Name != SGD {
		s.steps = tensor.New(tensor.Of(tensor.Int64), tensor.WithShape(1))
	}
	for i := range slots {
		at := &slots[i]
		at.names = c.states(at.solver)
		shape := at.shape
		if n := at.own.Len(); n < shape.TotalSize() {
			shape = tensor.Shape{n}
		}
		for range at.names {
			if at.own.Len() > 0 {
				at.state = append(at.state, tensor.New(tensor.Of(at.dtype), tensor.WithShape(shape.Clone()...)))
			}
		}
	}
	return s
}

// Step updates every Value in place with its Grad at learning rate lr. The parameters must be those for which the
// solver was made, in the same order; the tensors in Grad may differ each time. An error (a missing or misshapen
// gradient, a learning rate that is negative, infinite or NaN) leaves all values and the state as they were.
func (s *Solver) Step(lr float64, params []Param) error {
	if err := checkStep(lr, s.slots, params); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if s.steps != nil {
		s.steps.Int64s()[0]++
	}
	var matrices []int
	for i, p := range params {
		switch at := s.slots[i]; {
		case at.own.Len() == 0:
		case at.solver == Muon:
			matrices = append(matrices, i)
		case at.solver == SGD:
			dense.ByType(at.dtype, sgd[float32], sgd[float64])(s, at, lr*at.factor, p)
		default:
			dense.ByType(at.dtype, adam[float32], adam[float64])(s, at, lr*at.factor, p)
		}
	}
	s.moveMatrices(lr, params, matrices)
	return nil
}

// Part is a tensor of a solver's state, or this process's part of it in a group.
type Part struct {
	Name  string
	Dtype tensor.Dtype
	Shape tensor.Shape  // of the whole
	Value *tensor.Dense // the elements from index Lo on, as a vector if they are only a part; nil for none
	Lo    int

	// Each calls write with all elements in order, as slices of numbers, in Step.Collect of a group; nil if Value is
	// the whole.
	Each func(write func(part any) error) error
}

// State returns the solver's whole state between steps, in a fixed order. A name joins PyTorch's name of the tensor and
// the parameter's name: "exp_avg.h.0.attn.bias". The tensors are the solver's own: the next Step changes them, and
// writing an earlier state to them restores it.
func (s *Solver) State() (all []Part) {
	if s.steps != nil {
		all = append(all, Part{Name: "step", Dtype: tensor.Int64, Shape: s.steps.Shape(), Value: s.steps})
	}
	for _, slot := range s.slots {
		for i, name := range slot.names {
			p := Part{Name: name + "." + slot.name, Dtype: slot.dtype, Shape: slot.shape, Lo: slot.own.Lo}
			if slot.state != nil {
				p.Value = slot.state[i]
			}
			all = append(all, p)
		}
	}
	return all
}

// State returns the solver's state; in a group this process's part of it.
func (s *Step) State() []Part { return s.solver.State() }

// states returns PyTorch's names of the tensors that a solver stores for each parameter.
func (c SolverConfig) states(solver string) []string {
	switch {
	case solver == Adam || solver == AdamW: // running averages of the gradient and of its square
		return []string{"exp_avg", "exp_avg_sq"}
	case c.Momentum != 0: // PyTorch's first SGD buffer is the gradient itself, and so is momentum·0 + grad
		return []string{"momentum_buffer"}
	}
	return nil
}

// sgd updates a parameter by stochastic gradient descent with momentum, as torch.optim.SGD without dampening and
// Nesterov's variant.
func sgd[F kernel.Float](s *Solver, at slot, lr float64, p Param) {
	value, grad := part[F](p.Value, at.own), part[F](p.Grad, at.own)
	if s.config.Momentum == 0 {
		kernel.SGD(value, grad, F(lr), F(at.decay))
		return
	}
	kernel.Momentum(value, grad, dense.Floats[F](at.state[0]), F(lr), F(s.config.Momentum), F(at.decay))
}

// adam updates a parameter as Adam (Kingma and Ba, arXiv:1412.6980), torch.optim.Adam, or with decoupled decay AdamW
// (Loshchilov and Hutter, arXiv:1711.05101), torch.optim.AdamW. Its constants are computed in float64, as by PyTorch,
// and rounded to the parameter's dtype.
func adam[F kernel.Float](s *Solver, at slot, lr float64, p Param) {
	c, t := s.config, float64(s.steps.Int64s()[0])
	k := simd.AdamConstants[F]{
		Keep:  1,
		Beta1: F(c.Beta1), Rest1: F(1 - c.Beta1),
		Beta2: F(c.Beta2), Rest2: F(1 - c.Beta2),
		Rate: F(lr / (1 - math.Pow(c.Beta1, t))),
		Root: F(math.Sqrt(1 - math.Pow(c.Beta2, t))),
		Eps:  F(c.Eps),
	}
	if at.solver == AdamW {
		k.Keep = F(1 - float64(lr*at.decay)) // rounded twice on every processor
	} else {
		k.Decay = F(at.decay)
	}
	kernel.Adam(part[F](p.Value, at.own), part[F](p.Grad, at.own),
		dense.Floats[F](at.state[0]), dense.Floats[F](at.state[1]), k)
}

// moveMatrices updates the parameters with these numbers by Muon. Each runs on one core, because the products of one
// matrix are small.
func (s *Solver) moveMatrices(lr float64, params []Param, numbers []int) {
	workers := min(runtime.GOMAXPROCS(0), len(numbers))
	if len(s.rooms) < workers {
		s.rooms = make([]*tensor.Dense, workers)
	}
	var next atomic.Int64
	end := func() {}
	parallel.For(workers, 1, func(worker, _ int) {
		if worker == 0 {
			end = parallel.SideBySide(workers)
		}
		for i := int(next.Add(1)) - 1; i < len(numbers); i = int(next.Add(1)) - 1 {
			at, p := s.slots[numbers[i]], params[numbers[i]]
			room := &s.rooms[worker]
			dense.ByType(at.dtype, muon[float32], muon[float64])(s.config, at, lr*at.factor, p, room)
		}
	})
	end()
}

// muon updates a matrix (m, n) as Muon (Jordan et al. 2024), torch.optim.Muon: by the momentum's gradient after
// bringing all its singular values near 1. room is scratch memory, which muon replaces by a larger tensor if it is too
// small.
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
	adjusted := lr * math.Sqrt(max(1, float64(m)/float64(n)))
	if c.AdjustLR == MatchRMSAdamW {
		adjusted = lr * (0.2 * math.Sqrt(float64(max(m, n))))
	}
	kernel.Axpy(-F(adjusted), u, value)
}
