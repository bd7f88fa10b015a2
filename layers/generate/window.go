package generate

import (
	"context"
	"fmt"
	"slices"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// windowReader is a model without a cache: each time it reads the last tokens again.
type windowReader struct {
	text    []int
	window  []int // of the ids, T
	logits  *G.Node
	machine *machine.Machine
}

func newWindowReader(m Model, context int, p graph.Precision) (r *windowReader, vocab int, err error) {
	r = new(windowReader)
	if err := expr.Building(func() error { return r.build(m, context, p) }); err != nil {
		return nil, 0, err
	}
	return r, r.logits.Shape()[1], nil
}

func (r *windowReader) build(m Model, context int, p graph.Precision) error {
	b := layers.NewBuild(m.Params(), layers.Eval)
	b.SetPrecision(p)
	ids, window := intInput(b, "ids", context)
	if err := b.Err(); err != nil {
		return err
	}
	var err error
	if r.logits, err = m.Forward(b, ids); err != nil {
		return err
	}
	shape := r.logits.Shape()
	if shape.Dims() != 2 || shape[0] != context {
		return fmt.Errorf("forward: logits: shape %v, want (T=%d, V)", shape, context)
	}
	r.window = window
	r.machine, err = machine.New(r.logits)
	return err
}

func (r *windowReader) read(ctx context.Context, ids []int, logits []float64) error {
	text := slices.Concat(r.text, ids)
	text = text[max(0, len(text)-len(r.window)):]
	copy(r.window, text)
	if err := r.machine.Run(ctx); err != nil {
		return err
	}
	copyFloats(logits, r.logits.Value().(*tensor.Dense), (len(text)-1)*len(logits))
	r.text = text
	return nil
}

// keep keeps nothing: the window moves, and is read anew for each token.
func (r *windowReader) keep([]int, int) (left, known int) {
	r.text = nil
	return 0, 0
}

func (r *windowReader) reset() { r.text = nil }

func (r *windowReader) memory() (cache, graphs int) { return 0, r.machine.Memory().Planned }
