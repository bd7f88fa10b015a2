package train

import (
	"fmt"
	"iter"
	"math"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// adam is Adam (Kingma and Ba, arXiv:1412.6980) as torch.optim.Adam, and with
// decoupled decay AdamW (Loshchilov and Hutter, arXiv:1711.05101) as
// torch.optim.AdamW.
type adam struct {
	config   SolverConfig // resolved
	slots    []slot
	step     *tensor.Dense   // (1), int64: steps taken
	expAvg   []*tensor.Dense // running averages of the gradients
	expAvgSq []*tensor.Dense // and of their squares
}

func newAdam(c SolverConfig, params []Param, slots []slot) *adam {
	s := &adam{config: c, slots: slots}
	s.step = tensor.New(tensor.Of(tensor.Int64), tensor.WithShape(1))
	for _, p := range params {
		s.expAvg = append(s.expAvg, zerosLike(p.Value))
		s.expAvgSq = append(s.expAvgSq, zerosLike(p.Value))
	}
	return s
}

func (s *adam) Step(lr float64, params []Param) error {
	if err := checkStep(lr, s.slots, params); err != nil {
		return err
	}
	s.step.Int64s()[0]++
	for i, p := range params {
		if p.Value.Dtype() == tensor.Float32 {
			adamTensor[float32](s, i, lr, p)
		} else {
			adamTensor[float64](s, i, lr, p)
		}
	}
	return nil
}

// adamTensor updates one parameter. Its constants are computed in float64, as by PyTorch,
// and rounded to the parameter's dtype.
func adamTensor[F kernel.Float](s *adam, i int, lr float64, p Param) {
	c, t := s.config, float64(s.step.Int64s()[0])
	k := kernel.AdamConstants[F]{
		Keep:  1,
		Beta1: F(c.Beta1), Rest1: F(1 - c.Beta1),
		Beta2: F(c.Beta2), Rest2: F(1 - c.Beta2),
		Rate: F(lr / (1 - math.Pow(c.Beta1, t))),
		Root: F(math.Sqrt(1 - math.Pow(c.Beta2, t))),
		Eps:  F(c.Eps),
	}
	if c.Name == AdamW {
		k.Keep = F(1 - lr*s.slots[i].decay)
	} else {
		k.Decay = F(s.slots[i].decay)
	}
	kernel.Adam(elements[F](p.Value), elements[F](p.Grad), elements[F](s.expAvg[i]), elements[F](s.expAvgSq[i]), k)
}

func (s *adam) State() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		if !yield("step", s.step) {
			return
		}
		for i, slot := range s.slots {
			if !yield("exp_avg."+slot.name, s.expAvg[i]) || !yield("exp_avg_sq."+slot.name, s.expAvgSq[i]) {
				return
			}
		}
	}
}

func (s *adam) SetState(state map[string]*tensor.Dense) error {
	if err := checkState(s, state); err != nil {
		return err
	}
	if step := state["step"].Int64s()[0]; step < 0 {
		return fmt.Errorf("train: solver state: step: got %d, want a number >= 0", step)
	}
	copyState(s, state)
	return nil
}
