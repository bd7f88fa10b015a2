package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/internal/stock"
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

// prepareEval builds the evaluation graph, once.
func (l *Loop) prepareEval() error {
	if l.eval != nil {
		return nil
	}
	stock.Building.Lock()
	defer stock.Building.Unlock()
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

// meanLoss returns the mean of the batches' losses, each weighted by its tokens. They are
// added in order, whichever process had them.
func (l *Loop) meanLoss(ctx context.Context, s Source) (mean float64, tokens int, err error) {
	own, n, err := l.eval.losses(ctx, s, l.team.Rank(), l.team.Size())
	if agreed := l.team.agree(err); agreed != nil {
		if agreed != err && isStop(agreed) { // err, if there is one, is not told
			agreed = fmt.Errorf("stopped: %w", agreed)
		}
		return 0, 0, agreed
	}
	all, err := l.team.gatherLosses(own, n)
	if err != nil {
		return 0, 0, err
	}
	sum := 0.0
	for _, r := range all {
		sum += float64(r.loss * float64(r.tokens))
		tokens += r.tokens
	}
	return sum / float64(tokens), tokens, nil
}

// losses returns the losses of a source's batches whose number modulo size is rank, and how
// many batches there are.
func (pr *program) losses(ctx context.Context, s Source, rank, size int) (own []batchResult, n int, err error) {
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
		own = append(own, batchResult{loss, b.Tokens})
	}
	if n == 0 {
		return nil, 0, errors.New("source: got no batch, want at least one")
	}
	return own, n, nil
}

// gatherLosses returns the results of n batches, in order, from those of each process.
func (t *team) gatherLosses(own []batchResult, n int) ([]batchResult, error) {
	counts := make([]int, t.Size())
	for rank := range counts {
		counts[rank] = (n - rank + t.Size() - 1) / t.Size()
	}
	if err := t.same([]Fact{{"number of batches of the evaluation", fmt.Sprint(n)}}); err != nil {
		return nil, err
	}
	parts, err := t.gatherResults(own, counts)
	if err != nil {
		return nil, err
	}
	all := make([]batchResult, n)
	for i := range all {
		all[i] = parts[i%t.Size()][i/t.Size()]
	}
	return all, nil
}
