package generate

import (
	"context"
	"fmt"
	"slices"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/stock"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// windowReader is a model without a cache: each time it reads all of the last tokens.
type windowReader struct {
	text    []int
	window  []int // of the ids, T
	logits  *G.Node
	machine *machine.Machine
}

func newWindowReader(m Model, context int, p graph.Precision) (r *windowReader, vocab int, err error) {
	stock.Building.Lock()
	defer stock.Building.Unlock()
	r = new(windowReader)
	b := layers.NewBuild(m.Params(), layers.Eval)
	b.SetPrecision(p)
	ids, window, err := intInput(b, "ids", context)
	if err != nil {
		return nil, 0, err
	}
	if r.logits, err = m.Forward(b, ids); err != nil {
		return nil, 0, err
	}
	shape := r.logits.Shape()
	if shape.Dims() != 2 || shape[0] != context {
		return nil, 0, fmt.Errorf("forward: logits: shape %v, want (T=%d, V)", shape, context)
	}
	r.window = window
	r.machine, err = machine.New(r.logits)
	return r, shape[1], err
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

func (r *windowReader) reset() { r.text = nil }

func (r *windowReader) memory() (cache, graphs int) { return 0, r.machine.Memory().Planned }
