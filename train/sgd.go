package train

import (
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// sgd is stochastic gradient descent with momentum, as torch.optim.SGD without
// dampening and Nesterov's variant.
type sgd struct {
	momentum float64
	slots    []slot
	buffers  []*tensor.Dense // one a parameter; none at all without momentum
}

func newSGD(c SolverConfig, slots []slot) *sgd {
	s := &sgd{momentum: c.Momentum, slots: slots}
	if c.Momentum != 0 {
		// PyTorch's first buffer is the gradient itself, which is what
		// momentum·0 + grad gives.
		for _, slot := range slots {
			s.buffers = append(s.buffers, zerosLike(slot))
		}
	}
	return s
}

func (s *sgd) Step(lr float64, params []Param) error {
	if err := checkStep(lr, s.slots, params); err != nil {
		return err
	}
	for i, p := range params {
		var buffer *tensor.Dense
		if s.buffers != nil {
			buffer = s.buffers[i]
		}
		if s.slots[i].dtype == tensor.Float32 {
			sgdTensor[float32](p, buffer, lr, s.momentum, s.slots[i].decay)
		} else {
			sgdTensor[float64](p, buffer, lr, s.momentum, s.slots[i].decay)
		}
	}
	return nil
}

func sgdTensor[F kernel.Float](p Param, buffer *tensor.Dense, lr, momentum, decay float64) {
	value, grad := elements[F](p.Value), elements[F](p.Grad)
	if buffer == nil {
		kernel.SGD(value, grad, F(lr), F(decay))
		return
	}
	kernel.Momentum(value, grad, elements[F](buffer), F(lr), F(momentum), F(decay))
}

func (s *sgd) State() []NamedTensor {
	state := make([]NamedTensor, len(s.buffers))
	for i, b := range s.buffers {
		state[i] = NamedTensor{Name: "momentum_buffer." + s.slots[i].name, Value: b}
	}
	return state
}

func (s *sgd) SetState(state []NamedTensor) error {
	values, err := match(s.State(), state)
	if err != nil {
		return err
	}
	copyState(s.State(), values)
	return nil
}
