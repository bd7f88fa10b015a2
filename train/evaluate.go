package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/layers"
)

// Evaluate returns the mean loss over all of a source's targets that count, in a graph
// without dropout. It reads the source up to io.EOF, which an endless one never returns,
// and changes neither the parameters nor the steps to come. If an error or a context
// that is done stops it, a Resumable source is set back to its position before; others
// stay where they are.
func (l *Loop) Evaluate(ctx context.Context, s Source) (Evaluation, error) {
	if err := l.made(); err != nil {
		return Evaluation{}, err
	}
	if ctx == nil {
		return Evaluation{}, errNoContext
	}
	if s == nil {
		return Evaluation{}, errors.New("train: source to evaluate on: got nil, want one")
	}
	if err := l.prepareEval(); err != nil {
		return Evaluation{}, err
	}
	resumable, ok := s.(Resumable)
	var before []byte
	if ok {
		before = resumable.State()
	}
	mean, tokens, err := l.eval.meanLoss(ctx, s)
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

// prepareEval builds the evaluation graph, once.
func (l *Loop) prepareEval() error {
	if l.eval != nil {
		return nil
	}
	b, cost, err := l.loss.build(l.params, layers.Eval)
	if err != nil {
		return err
	}
	eval, err := newProgram(b, cost)
	if err == nil {
		err = eval.compile()
	}
	if err != nil {
		return fmt.Errorf("train: %v graph: %w", layers.Eval, err)
	}
	l.eval = eval
	return nil
}

// meanLoss returns the mean of the batches' losses, each weighted by its tokens.
func (pr *program) meanLoss(ctx context.Context, s Source) (mean float64, tokens int, err error) {
	sum := 0.0
	for {
		if err := ctx.Err(); err != nil {
			return 0, 0, fmt.Errorf("stopped: %w", err)
		}
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, 0, fmt.Errorf("batch: %w", err)
		}
		if b.Tokens < 1 {
			return 0, 0, fmt.Errorf("batch: tokens: got %d, want the number of targets that count, at least 1",
				b.Tokens)
		}
		loss, err := pr.run(ctx, b.Inputs, 0)
		if err != nil {
			return 0, 0, err
		}
		sum += loss * float64(b.Tokens)
		tokens += b.Tokens
	}
	if tokens == 0 {
		return 0, 0, errors.New("source: got no batch, want at least one")
	}
	return sum / float64(tokens), tokens, nil
}
