package train

import (
	"iter"

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

func newSGD(c SolverConfig, params []Param, slots []slot) *sgd {
	s := &sgd{momentum: c.Momentum, slots: slots}
	if c.Momentum != 0 {
		// PyTorch's first buffer is the gradient itself, as momentum·0 + grad is.
		for _, p := range params {
			s.buffers = append(s.buffers, zerosLike(p.Value))
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
		if p.Value.Dtype() == tensor.Float32 {
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

func (s *sgd) State() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for i, b := range s.buffers {
			if !yield("momentum_buffer."+s.slots[i].name, b) {
				return
			}
		}
	}
}

func (s *sgd) SetState(state map[string]*tensor.Dense) error {
	if err := checkState(s, state); err != nil {
		return err
	}
	copyState(s, state)
	return nil
}
