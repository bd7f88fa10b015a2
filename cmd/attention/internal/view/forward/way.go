package forward

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// journeys computes the stages of a pass's tokens on request, for as many tokens at once as fit into memory. It keeps
// the most recent ones.
type journeys struct {
	open    atomic.Pointer[func() (network, error)] // nil once the weights are forgotten
	request Request

	mu  sync.Mutex
	way *way
}

// way is the stages of some tokens.
type way struct {
	first, n int // tokens
	stages   []stage
}

// stage is a stage of a model. Value (N, width) has a row for each token; it is nil until it is computed.
type stage struct {
	layers.Stage
	width  int
	values []float32
}

// row returns the numbers of a token.
func (s stage) row(at int) []float32 { return s.values[at*s.width:][:s.width] }

// mostWay is the most bytes of a way of several tokens.
var mostWay = 32 << 20

// at returns a way that contains a token, and the token's row in it.
func (j *journeys) at(ctx context.Context, l *Pass, token int) (*way, int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w := j.way; w != nil && token >= w.first && token < w.first+w.n {
		return w, token - w.first, nil
	}
	open := j.open.Load()
	if open == nil {
		return nil, 0, ErrForgotten
	}
	w, err := j.compute(ctx, *open, l, token)
	if err != nil {
		return nil, 0, err
	}
	j.way = w
	return w, token - w.first, nil
}

// compute computes the stages of a token, and of the tokens around it that fit.
func (j *journeys) compute(ctx context.Context, open func() (network, error), l *Pass, token int) (*way, error) {
	n, err := open()
	if err != nil {
		return nil, err
	}
	read, err := n.read(j.request.Text, j.request.Then)
	if err != nil {
		return nil, err
	}
	t, ok := read.(*languageText)
	if !ok {
		return nil, errors.New("journey: got a model of two texts, want one that continues a text")
	}
	var w *way
	build := func(tokens int) error {
		t.of = tokens
		_, b, err := buildPassGraph(n.params(), t, j.request, l.Layers)
		if err != nil {
			return err
		}
		w = newWay(b, t)
		return b.Err()
	}
	m, err := plan(func() (G.Nodes, error) {
		if err := build(1); err != nil {
			return nil, err
		}
		if n := min(len(t.ids), mostWay/(4*w.size())); n > 1 {
			if err := build(n); err != nil {
				return nil, err
			}
		}
		return w.nodes(), nil
	})
	if err != nil {
		return nil, err
	}
	defer m.Close() // it never fails
	w.first = min(token/w.n*w.n, len(t.ids)-w.n)
	return w, w.run(ctx, m, t)
}

// newWay returns the stages of a build of a text, which are not computed yet.
func newWay(b *layers.Build, t *languageText) *way {
	w := &way{n: t.of}
	known := map[[2]string]bool{} // the operands of a fixed layer make some stages a second time
	for _, s := range b.Stages() {
		name := [2]string{s.Path, s.Name}
		if known[name] {
			continue
		}
		known[name] = true
		if s.Name != "logits" || s.Value.Shape()[0] != t.of { // which may be those of the rows
			s.Value = b.Of(graph.Embedding(s.Value, t.rows))
		}
		w.stages = append(w.stages, stage{Stage: s, width: s.Value.Shape()[1]})
	}
	return w
}

// size returns how many numbers each token has.
func (w *way) size() (n int) {
	for _, s := range w.stages {
		n += s.width
	}
	return n
}

// nodes returns the nodes that a run computes.
func (w *way) nodes() (all G.Nodes) {
	for _, s := range w.stages {
		all = append(all, s.Value)
	}
	return all
}

// run computes the stages.
func (w *way) run(ctx context.Context, m *machine.Machine, t *languageText) error {
	ids := make([]int, w.n)
	for i := range ids {
		ids[i] = w.first + i
	}
	if err := let(t.input, t.ids); err != nil {
		return err
	}
	if err := let(t.rows, ids); err != nil {
		return err
	}
	if err := m.Run(ctx); err != nil {
		return err
	}
	for i := range w.stages {
		s := &w.stages[i]
		s.values, s.Value = dense.Float32s(s.Value.Value().(*tensor.Dense), 0, w.n*s.width), nil
	}
	return nil
}
