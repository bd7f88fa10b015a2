package train

import (
	"fmt"
	"math"

	"attention/internal/kernel"
)

// blockSize is the number of elements of a block. The bits of a norm depend on the blocks: with
// fewer than blockBatches batches a step, which few processes can share, a block is a whole
// parameter, and a norm the sum of its parameters' as PyTorch's is.
const (
	blockSize    = 1 << 16
	blockBatches = 4
)

// block is some elements of one parameter, whose squares are summed by themselves. Processes
// share out whole blocks, so that a norm does not depend on their number.
type block struct {
	param int
	Span
}

// blocksOf returns the blocks of parameters, in order, for steps of n batches. What Muon updates is one block: no
// process can update a part of it.
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

// gradientNorm returns the norm of all gradients as one vector, and keeps each gradient's norm.
func (s *Step) gradientNorm() (float64, error) {
	squares := make([]float64, len(s.blocks))
	kernel.Parallel(len(s.ownBlocks), 1, func(lo, hi int) {
		for _, i := range s.ownBlocks[lo:hi] {
			b := s.blocks[i]
			squares[i] = sumSquares(s.program.params[b.param].Grad, b.Span)
		}
	})
	if s.group != nil {
		if err := s.group.reducer.Norm(squares); err != nil {
			return 0, err
		}
	}
	total := 0.0
	clear(s.norms)
	for i, sum := range squares {
		total += sum
		s.norms[s.blocks[i].param] += sum
		if math.IsNaN(total) || math.IsInf(total, 0) {
			return math.Sqrt(total), notFiniteNorm(s.program.params[s.blocks[i].param].Name, math.Sqrt(total))
		}
	}
	for i, sum := range s.norms {
		s.norms[i] = math.Sqrt(sum)
	}
	return math.Sqrt(total), nil
}

// checkGradients returns an error that wraps ErrNotFinite and names the parameter with which the norm of all gradients
// becomes NaN or infinite.
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
