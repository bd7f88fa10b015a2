package train

import (
	"fmt"
	"iter"
	"math"

	"attention/internal/parallel"
)

// blockSize is the number of elements of a block. Norms are summed block by block, so the blocks determine their bits.
// In steps of fewer than blockBatches batches, a block is a whole parameter, as in PyTorch.
const (
	blockSize    = 1 << 16
	blockBatches = 4
)

// block is some elements of one parameter, whose squares have a sum of their own. Processes get whole blocks, so that a
// norm does not depend on the number of processes.
type block struct {
	param int
	Span
}

// blocksOf returns the blocks of parameters, in order, for steps of n batches. A parameter that Muon updates is one
// block: no process can update a part of it.
func blocksOf(slots []slot, n int) (all []block) {
	for i, s := range slots {
		count := s.own.Len()
		size := count
		if n >= blockBatches && s.solver != Muon {
			size = blockSize
		}
		for lo := 0; lo < count; lo += size {
			all = append(all, block{i, Span{lo, min(lo+size, count)}})
		}
	}
	return all
}

// gradientNorm returns the norm of all gradients as one vector, and stores each gradient's norm.
func (s *Step) gradientNorm() (float64, error) {
	squares := make([]float64, len(s.blocks))
	parallel.For(len(s.ownBlocks), 1, func(lo, hi int) {
		for _, i := range s.ownBlocks[lo:hi] {
			b := s.blocks[i]
			squares[i] = sumSquares(s.params[b.param].Grad, b.Span)
		}
	})
	if s.group != nil {
		if err := s.group.reducer.Norm(squares); err != nil {
			return 0, err
		}
	}
	total := 0.0
	s.norms = make([]float64, len(s.params))
	for i, sum := range squares {
		total += sum
		s.norms[s.blocks[i].param] += sum
		if math.IsNaN(total) || math.IsInf(total, 0) {
			return math.Sqrt(total), notFiniteNorm(s.params[s.blocks[i].param].Name, math.Sqrt(total))
		}
	}
	for i, sum := range s.norms {
		s.norms[i] = math.Sqrt(sum)
	}
	return math.Sqrt(total), nil
}

// checkGradients returns an error that wraps ErrNotFinite and names the first parameter whose gradient makes the norm
// NaN or infinite.
func checkGradients(params []Param) error {
	total := 0.0
	for _, p := range params {
		total += sumSquares(p.Grad, wholeOf(p.Grad))
		if math.IsNaN(total) || math.IsInf(total, 0) {
			return notFiniteNorm(p.Name, math.Sqrt(total))
		}
	}
	return nil
}

// notFiniteNorm returns the error about the norm of a parameter's gradient.
func notFiniteNorm(name string, norm float64) error {
	return fmt.Errorf("gradient of %s: got a norm of %v, which is %w", name, norm, ErrNotFinite)
}

// clip scales the gradients, whose norm as one vector is norm, by ClipNorm/(norm + 1e-6) if that is less than 1, as
// torch.nn.utils.clip_grad_norm_ does.
func (s *Step) clip(norm float64) {
	c := s.config.ClipNorm / (norm + 1e-6)
	if s.config.ClipNorm == 0 || c >= 1 {
		return
	}
	for i, p := range s.params {
		scalePart(p.Grad, p.Grad, s.own[i], c)
	}
}

// GradNorms returns the names of the parameters that are trained, in order, with the Euclidean norm of each one's
// gradient in the last step, before clipping. The norms are NaN before the first step and after SetSteps.
func (s *Step) GradNorms() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, p := range s.params {
			norm := math.NaN()
			if s.norms != nil {
				norm = s.norms[i]
			}
			if !yield(p.Name, norm) {
				return
			}
		}
	}
}
