package train

import (
	"errors"
	"fmt"
	"io"
	"math/bits"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// batchLoss is the loss of one batch of a step, a mean over its tokens.
type batchLoss struct {
	Loss   float64
	Tokens int64
}

// gradients runs the next batches of a source and stores the gradient of their loss in the parameters' Grad. Several
// batches count as one large batch, weighted by their numbers of tokens nᵢ:
//
//	L = Σ nᵢ·Lᵢ / Σ nᵢ    g = Σ nᵢ·gᵢ / Σ nᵢ
//
// It returns L and Σ nᵢ. Every batch has its own dropout key.
func (s *Step) gradients(source Source) (loss float64, tokens int, err error) {
	if s.config.batches() == 1 {
		r, err := s.batchGradients(source, dropoutKey(s.config.Seed, s.taken))
		return r.Loss, int(r.Tokens), err
	}
	if s.group != nil {
		return s.groupGradients(source)
	}
	s.used = 0
	losses, sum, err := s.sumBatches(source, 0, s.config.batches(), false)
	if err != nil {
		return 0, 0, err
	}
	loss, tokens = meanOf(losses)
	for i, p := range s.params {
		scaleTensor(p.Grad, sum[i], 1/float64(tokens))
	}
	return loss, tokens, nil
}

// meanOf returns the mean of losses, each weighted by its tokens, and the number of all tokens.
func meanOf(losses []batchLoss) (mean float64, tokens int) {
	for _, r := range losses {
		mean += float64(r.Loss * float64(r.Tokens))
		tokens += int(r.Tokens)
	}
	return mean / float64(tokens), tokens
}

// batchGradients stores the gradient of the next batch's loss in the parameters' Grad.
func (s *Step) batchGradients(source Source, key int64) (batchLoss, error) {
	b, err := nextBatch(source)
	if err != nil {
		return batchLoss{}, err
	}
	if rows, err := s.split(b.Inputs); err != nil || rows > 0 {
		loss := 0.0
		if err == nil {
			loss, err = s.cachedGradients(b.Inputs, rows, key)
		}
		return batchLoss{loss, int64(b.Tokens)}, err
	}
	if err := s.choose(b.Inputs); err != nil {
		return batchLoss{}, err
	}
	loss, err := s.program.run(b.Inputs, key)
	if err != nil {
		return batchLoss{}, err
	}
	if err := s.program.readGradients(s.params, s.copies); err != nil {
		return batchLoss{}, err
	}
	return batchLoss{loss, int64(b.Tokens)}, nil
}

// nextBatch returns the next batch of a source that must not end.
func nextBatch(source Source) (Batch, error) {
	b, err := source.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the source has ended, want another batch: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return Batch{}, fmt.Errorf("batch: %w", err)
	}
	return b, nil
}

// sumBatches returns the losses of the batches of a step from lo to hi−1 and Σ nᵢ·gᵢ over them.
//
// Gradients are added pairwise, like the carries of a binary counter, so the order depends on the number of batches
// alone: the sum over n > 1 batches is the sum over the largest power of two below n, plus the sum over the others.
// Processes that share the batches thus add the same numbers in the same order. With keep the result has memory of
// its own, which the next batch does not overwrite.
func (s *Step) sumBatches(source Source, lo, hi int, keep bool) (losses []batchLoss, sum []*tensor.Dense, err error) {
	var waiting [][]*tensor.Dense
	first := s.used
	add := func() { // the last sum to the one before it
		n := len(waiting)
		for i, left := range waiting[n-2] {
			dense.ByType(left.Dtype(), add[float32], add[float64])(left, waiting[n-1][i])
		}
		waiting = waiting[:n-1]
		s.used = first + len(waiting)
	}
	for i := lo; i < hi; i++ {
		n := i - lo + 1 // with this one
		added := n%2 == 0 || n > 1 && i == hi-1
		r, sum, err := s.weighted(source, i, !added && (keep || hi-lo > 1))
		if err != nil {
			return nil, nil, s.ofBatch(i, err)
		}
		losses, waiting = append(losses, r), append(waiting, sum)
		for ; n%2 == 0; n /= 2 {
			add()
		}
	}
	for len(waiting) > 1 {
		add()
	}
	return losses, waiting[0], nil
}

func (s *Step) ofBatch(i int, err error) error {
	return fmt.Errorf("micro-batch %d of %d: %w", i+1, s.config.batches(), err)
}

// weighted returns nᵢ·gᵢ of batch i.
func (s *Step) weighted(source Source, i int, keep bool) (r batchLoss, sum []*tensor.Dense, err error) {
	if r, err = s.batchGradients(source, dropoutKey(s.config.Seed, s.taken*s.config.batches()+i)); err != nil {
		return r, nil, err
	}
	if r.Tokens < 1 {
		return r, nil, fmt.Errorf("tokens: got %d, want at least 1: the targets that count", r.Tokens)
	}
	// Checked here, while the graph still holds the batch that causes a NaN.
	if err := checkGradients(s.params); err != nil {
		return r, nil, withOrigin(s.program.machine, err)
	}
	if keep {
		sum = s.sums[s.used]
		s.used++
	}
	for i, p := range s.params {
		if !keep {
			sum = append(sum, p.Grad)
		}
		scaleTensor(sum[i], p.Grad, float64(r.Tokens))
	}
	return r, sum, nil
}

// sumsOf returns how many sums sumBatches holds at the same time if it adds up the batches between each two bounds. All
// these sums except the last are kept.
func sumsOf(bounds []int) (most int) {
	last := len(bounds) - 2
	for kept := range last + 1 {
		n := bounds[kept+1] - bounds[kept]
		waiting := bits.Len(uint(n)) - 1
		if n == 1 && kept < last {
			waiting = 1
		}
		most = max(most, kept+waiting)
	}
	return most
}
