package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/internal/dense"
	"attention/layers"

	"gorgonia.org/tensor"
)

// Evaluate returns the mean of a loss over all targets of a source that are not ignored, and the number of these
// targets. If the context is done, Evaluate stops between two batches, or within one. The first result of loss is the
// loss of a batch, a scalar. Evaluate reads the source up to io.EOF. The processes of the group g share the batches; g
// may be nil.
func Evaluate(ctx context.Context, loss *layers.Func, s Source, g Group) (mean float64, tokens int, err error) {
	switch {
	case ctx == nil:
		return 0, 0, errors.New("context: got nil, want one")
	case loss == nil:
		return 0, 0, errors.New("loss: got nil, want a function")
	case s == nil:
		return 0, 0, errors.New("source: got nil, want one")
	}
	rank, size := 0, 1
	if g != nil {
		rank, size = g.Rank(), g.Size()
	}
	losses, n, err := lossesOf(ctx, loss, s, rank, size)
	if g != nil {
		losses, err = allLosses(g, losses, n, err)
	}
	if err != nil {
		return 0, 0, err
	}
	mean, tokens = meanOf(losses)
	return mean, tokens, nil
}

// lossesOf returns the losses of a source's batches whose number modulo size is rank, and how many batches there are.
func lossesOf(ctx context.Context, f *layers.Func, s Source, rank, size int) (own []batchLoss, n int, err error) {
	var out []*tensor.Dense
	for ; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("batch: %w", err)
		}
		if b.Tokens < 1 {
			return nil, 0, fmt.Errorf("batch: tokens: got %d, want at least 1: the targets that count", b.Tokens)
		}
		if n%size != rank {
			continue
		}
		if out, err = f.CallInto(ctx, out, b.Inputs); err != nil {
			return nil, 0, err
		}
		if len(out) == 0 || out[0].Dims() != 0 || !dense.IsFloat(out[0].Dtype()) {
			return nil, 0, errors.New("loss: got no float32 or float64 scalar for the first result, want one")
		}
		loss, err := finite(f, dense.Float64s(out[0])[0])
		if err != nil {
			return nil, 0, err
		}
		own = append(own, batchLoss{loss, int64(b.Tokens)})
	}
	if n == 0 {
		return nil, 0, errors.New("source: got no batch, want at least one")
	}
	return own, n, nil
}

// allLosses returns the losses of all processes in the order of the batches.
func allLosses(g Group, own []batchLoss, n int, err error) ([]batchLoss, error) {
	if err := g.Agree(err); err != nil {
		return nil, err
	}
	if err := g.Same("number of batches of the evaluation", fmt.Sprint(n)); err != nil {
		return nil, err
	}
	counts := make([]int, g.Size())
	for rank := range counts {
		counts[rank] = (n - rank + g.Size() - 1) / g.Size()
	}
	parts, err := gatherLosses(g, own, counts)
	if err != nil {
		return nil, err
	}
	all := make([]batchLoss, n)
	for i := range all {
		all[i] = parts[i%g.Size()][i/g.Size()]
	}
	return all, nil
}
