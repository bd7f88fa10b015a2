package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// gradients runs the next n batches of a source and leaves the gradient of the loss in the
// parameters' Grad. Several batches count as one large one, by their tokens nᵢ:
//
//	L = Σ nᵢ·Lᵢ / Σ nᵢ    g = Σ nᵢ·gᵢ / Σ nᵢ
//
// It returns L and Σ nᵢ. Every batch has a dropout key of its own.
func (s *Step) gradients(n int, source Source) (loss float64, tokens int, err error) {
	if n == 1 {
		return s.batchGradients(source, dropoutKey(s.config.Seed, s.taken))
	}
	for i := range n {
		mean, count, err := s.batchGradients(source, dropoutKey(s.config.Seed, s.taken*n+i))
		if err == nil {
			err = s.sumGradients(count, i == 0)
		}
		if err != nil {
			return 0, 0, fmt.Errorf("micro-batch %d of %d: %w", i+1, n, err)
		}
		loss += mean * float64(count)
		tokens += count
	}
	for i, p := range s.program.params {
		scaleTensor(p.Grad, s.sums[i], 1/float64(tokens))
	}
	return loss / float64(tokens), tokens, nil
}

// batchGradients leaves the gradient of the next batch's loss in the parameters' Grad.
func (s *Step) batchGradients(source Source, key int64) (loss float64, tokens int, err error) {
	b, err := source.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the source has ended, want another batch: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("batch: %w", err)
	}
	// No context stops it between two ops: a batch that is drawn is used, so that a run
	// that resumes later gives the same bits.
	if loss, err = s.program.run(context.Background(), b.Inputs, key); err != nil {
		return 0, 0, err
	}
	if err := s.program.copyGradients(); err != nil {
		return 0, 0, err
	}
	return loss, b.Tokens, s.program.afterBatch()
}

// sumGradients adds nᵢ·gᵢ, with gᵢ in the parameters' Grad, to the sums, which the
// first batch of a step overwrites.
func (s *Step) sumGradients(tokens int, first bool) error {
	if tokens < 1 {
		return fmt.Errorf("tokens: got %d, want the number of targets that count, at least 1", tokens)
	}
	// Checked now: the graph still holds the batch that a NaN comes from.
	if _, err := gradientNorm(s.program.params, nil); err != nil {
		return s.program.withOrigin(err)
	}
	for i, p := range s.program.params {
		if first {
			scaleTensor(s.sums[i], p.Grad, float64(tokens))
			continue
		}
		scaleTensor(p.Grad, p.Grad, float64(tokens))
		addTensor(s.sums[i], p.Grad)
	}
	return nil
}

// makeSums allocates the sums of the gradients of several batches.
func (s *Step) makeSums() {
	for _, p := range s.program.params {
		s.sums = append(s.sums, p.Grad.Clone().(*tensor.Dense))
	}
}

// scaleTensor writes c·x to y, which may be x; both are of one dtype and shape.
func scaleTensor(y, x *tensor.Dense, c float64) {
	if x.Dtype() == tensor.Float32 {
		kernel.Scale(y.Float32s(), x.Float32s(), float32(c))
	} else {
		kernel.Scale(y.Float64s(), x.Float64s(), c)
	}
}

// addTensor adds x to y; both are of one dtype and shape.
func addTensor(y, x *tensor.Dense) {
	if x.Dtype() == tensor.Float32 {
		kernel.AddRows(y.Float32s(), y.Float32s(), x.Float32s())
	} else {
		kernel.AddRows(y.Float64s(), y.Float64s(), x.Float64s())
	}
}
