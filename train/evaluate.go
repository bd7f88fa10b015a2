package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/internal/expr"
	"attention/layers"
)

// Evaluate returns the mean loss over all of a source's targets that count, in a graph
// without dropout. It reads the source up to io.EOF, which an endless one never returns,
// and changes neither the parameters nor the steps to come. If an error or a context
// that is done stops it, a Resumable source is set back to its position before; another
// source stays where it is.
func (l *Loop) Evaluate(ctx context.Context, s Source) (Evaluation, error) {
	if ctx == nil {
		return Evaluation{}, errNoContext
	}
	if s == nil {
		return Evaluation{}, errors.New("train: source to evaluate on: got nil, want one")
	}
	if err := l.PrepareEval(); err != nil {
		return Evaluation{}, err
	}
	resumable, ok := s.(Resumable)
	var before []byte
	if ok {
		before = resumable.State()
	}
	mean, tokens, err := l.meanLoss(ctx, s)
	if err != nil {
		if ok {
			if back := resumable.SetState(before); back != nil {
				err = fmt.Errorf("%w; setting the source back: %w", err, back)
			}
		}
		return Evaluation{}, fmt.Errorf("train: evaluation after %d steps: %w", l.Steps(), err)
	}
	e := Evaluation{Step: l.Steps(), Loss: mean, Tokens: tokens}
	if l.best.used {
		e.Step = l.best.Step
	}
	return e, nil
}

// PrepareEval builds the evaluation graph, once; otherwise the first evaluation does. Memory counts it from then on.
func (l *Loop) PrepareEval() error {
	if l.eval != nil {
		return nil
	}
	return expr.Building(l.makeEval)
}

func (l *Loop) makeEval() error {
	b, cost, err := l.build(layers.Eval)
	if err != nil {
		return err
	}
	eval, err := newProgram(b, cost)
	if err != nil {
		return fmt.Errorf("train: %v graph: %w", layers.Eval, err)
	}
	if err := eval.compile(); err != nil {
		return fmt.Errorf("train: %v graph: %w", layers.Eval, err)
	}
	l.eval = eval
	return nil
}

// meanLoss returns the mean of the batches' losses, each weighted by its tokens.
func (l *Loop) meanLoss(ctx context.Context, s Source) (mean float64, tokens int, err error) {
	if l.config.Group != nil {
		return l.groupMeanLoss(ctx, s)
	}
	losses, _, err := l.eval.losses(ctx, s, 0, 1)
	if err != nil {
		return 0, 0, err
	}
	mean, tokens = meanOf(losses)
	return mean, tokens, nil
}

// losses returns the losses of a source's batches whose number modulo size is rank, and how
// many batches there are.
func (pr *program) losses(ctx context.Context, s Source, rank, size int) (own []batchLoss, n int, err error) {
	for ; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, fmt.Errorf("stopped: %w", err)
		}
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("batch: %w", err)
		}
		if b.Tokens < 1 {
			return nil, 0, fmt.Errorf("batch: tokens: got %d, want the number of targets that count, at least 1",
				b.Tokens)
		}
		if n%size != rank {
			continue
		}
		loss, err := pr.run(ctx, b.Inputs, 0)
		if err != nil {
			return nil, 0, err
		}
		own = append(own, batchLoss{loss, b.Tokens})
	}
	if n == 0 {
		return nil, 0, errors.New("source: got no batch, want at least one")
	}
	return own, n, nil
}
