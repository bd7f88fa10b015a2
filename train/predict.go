package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Predict computes nodes of the build's graph, which trains nothing, and returns their
// values in order, each with memory of its own. v holds a value for every input that they
// depend on; other values, such as a batch's labels, are not read. A graph with dropout is
// refused: build an Eval one. Predict plans the graph in each call; a Predictor plans it once.
func Predict(b *layers.Build, v Values, out ...*G.Node) ([]*tensor.Dense, error) {
	p, err := NewPredictor(b, out...)
	if err != nil {
		return nil, err
	}
	defer p.program.machine.Close()
	return p.Run(context.Background(), v)
}

// Predictor computes nodes of a graph that trains nothing, for one batch after another.
type Predictor struct {
	out     G.Nodes
	program program // whose inputs are those that out depends on
}

// NewPredictor plans the part of the build's graph that computes nodes. Like Predict, it refuses a graph with dropout.
func NewPredictor(b *layers.Build, out ...*G.Node) (*Predictor, error) {
	p, err := newPredictor(b, out)
	if err != nil {
		return nil, fmt.Errorf("train: predict: %w", err)
	}
	return p, nil
}

func newPredictor(b *layers.Build, out G.Nodes) (*Predictor, error) {
	if b == nil || b.Graph() == nil {
		return nil, errors.New("build: got none, want one of layers.NewBuild")
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("outputs: got none, want a node")
	}
	for i, n := range out {
		if err := checkNode(n, b); err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
	}
	reached := b.Graph().ExactSubgraphRoots(out...).AllNodes()
	if key := b.DropoutKey(); key != nil && slices.Contains(reached, key) {
		return nil, fmt.Errorf("build: got a %v graph with dropout, want an %v one", b.Mode(), layers.Eval)
	}
	p := &Predictor{out: out, program: program{inputs: map[string]*G.Node{}}}
	for name, n := range b.Inputs() {
		if slices.Contains(reached, n) {
			p.program.inputs[name] = n
		}
	}
	var err error
	p.program.machine, err = machine.New(out...)
	return p, err
}

// Run returns the nodes' values in order, each with memory of its own. v holds a value for
// every input that they depend on.
func (p *Predictor) Run(ctx context.Context, v Values) ([]*tensor.Dense, error) {
	read := Values{}
	for name := range p.program.inputs {
		read[name] = v[name]
	}
	if err := p.program.bind(read); err != nil {
		return nil, fmt.Errorf("train: predict: values: %w", err)
	}
	if err := p.program.machine.Run(ctx); err != nil {
		return nil, fmt.Errorf("train: predict: %w", err)
	}
	values := make([]*tensor.Dense, len(p.out))
	for i, n := range p.out {
		var err error
		if values[i], err = dense.Copy(n.Value()); err != nil {
			return nil, fmt.Errorf("train: predict: output %d: %w", i, err)
		}
	}
	return values, nil
}

// Evaluator computes the mean of a loss over the batches of a source, and trains nothing.
type Evaluator struct {
	program *program
	group   Group // nil for one process
}

// NewEvaluator plans the graph of loss, a scalar of the build's graph, which has no dropout: build an Eval one. The
// processes of a group, which may be nil for one, share the batches of a source.
func NewEvaluator(b *layers.Build, loss *G.Node, g Group) (*Evaluator, error) {
	if b == nil || b.Graph() == nil {
		return nil, errors.New("train: evaluator: got no build, want one of layers.NewBuild")
	}
	p, err := newProgram(b, loss)
	if err == nil && p.dropoutKey != nil {
		err = errors.New("build: got one with dropout, want an eval one")
	}
	if err == nil {
		err = expr.Building(func() error { return p.compile(new(machine.Arena)) })
	}
	if err != nil {
		return nil, fmt.Errorf("train: %v graph: %w", b.Mode(), err)
	}
	return &Evaluator{p, g}, nil
}

// Run returns the mean loss over all targets of a source that count, and their number. It reads the source up to
// io.EOF. A context that is done stops it between two batches, or in one.
func (e *Evaluator) Run(ctx context.Context, s Source) (loss float64, tokens int, err error) {
	if ctx == nil {
		return 0, 0, errors.New("context: got nil, want one")
	}
	if s == nil {
		return 0, 0, errors.New("source: got nil, want one")
	}
	if e.group != nil {
		return e.runTogether(ctx, s)
	}
	losses, _, err := e.losses(ctx, s, 0, 1)
	if err != nil {
		return 0, 0, err
	}
	loss, tokens = meanOf(losses)
	return loss, tokens, nil
}

// losses returns the losses of a source's batches whose number modulo size is rank, and how
// many batches there are.
func (e *Evaluator) losses(ctx context.Context, s Source, rank, size int) (own []batchLoss, n int, err error) {
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
			return nil, 0, fmt.Errorf("batch: tokens: got %d, want the number of targets that count, at least 1",
				b.Tokens)
		}
		if n%size != rank {
			continue
		}
		loss, err := e.program.run(ctx, b.Inputs, 0)
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

// runTogether is Run in a group. The losses are added in the order of the batches, whichever
// process had them.
func (e *Evaluator) runTogether(ctx context.Context, s Source) (loss float64, tokens int, err error) {
	g := e.group
	own, n, err := e.losses(ctx, s, g.Rank(), g.Size())
	if err := g.Agree(err); err != nil {
		return 0, 0, err
	}
	if err := g.Same("number of batches of the evaluation", fmt.Sprint(n)); err != nil {
		return 0, 0, err
	}
	counts := make([]int, g.Size())
	for rank := range counts {
		counts[rank] = (n - rank + g.Size() - 1) / g.Size()
	}
	parts, err := gatherLosses(g, own, counts)
	if err != nil {
		return 0, 0, err
	}
	all := make([]batchLoss, n)
	for i := range all {
		all[i] = parts[i%g.Size()][i/g.Size()]
	}
	loss, tokens = meanOf(all)
	return loss, tokens, nil
}

// Memory returns the bytes of the values within the graph.
func (e *Evaluator) Memory() int { return e.program.machine.Memory().Planned }
