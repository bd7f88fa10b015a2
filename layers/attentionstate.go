package layers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// State is a copy of the parameters, named and shaped as a layout has them: what
// PyTorch's state_dict holds, whatever the layer's own layout is. An empty layout is
// Book, as in the config. Only GPT2 cannot say all: it has no keys or values of
// another width than the queries.
func (l *Attention) State(layout Layout) (map[string]*tensor.Dense, error) {
	to, err := l.as(layout)
	if err != nil {
		return nil, err
	}
	own := map[string]*tensor.Dense{}
	for name, p := range l.params {
		own[name] = p.Value()
	}
	return l.convert(own, l.config, to), nil
}

// SetState copies a state of a layout into the parameters; every graph sees it. The
// state must have all names of that layout (AttentionConfig.Parameters) and no other,
// with their shapes and the parameters' type. If not, the error lists all that is
// wrong and nothing is set.
func (l *Attention) SetState(layout Layout, state map[string]*tensor.Dense) error {
	from, err := l.as(layout)
	if err != nil {
		return err
	}
	rows, err := l.checkState(from, state)
	if err != nil {
		return errorf(l.name, "state of layout %q: %w", from.Layout, err)
	}
	for name, v := range l.convert(rows, from, l.config) {
		if err := l.params[name].params.Set(l.params[name].name, v); err != nil {
			return err
		}
	}
	return nil
}

// as is the config with another layout.
func (l *Attention) as(layout Layout) (AttentionConfig, error) {
	c := l.config
	c.Layout = layout
	c = c.resolved()
	return c, c.validateNames(l.name)
}

// checkState lists all that is wrong with a state, by name, or returns it with every
// tensor laid out in rows.
func (l *Attention) checkState(c AttentionConfig, state map[string]*tensor.Dense) (map[string]*tensor.Dense, error) {
	var missing, unknown, wrong []string
	rows, known := map[string]*tensor.Dense{}, map[string]bool{}
	for _, p := range l.form.parameters(c) {
		known[p.Name] = true
		v, ok := state[p.Name]
		if !ok {
			missing = append(missing, fmt.Sprintf("%s %v", p.Name, p.Shape))
			continue
		}
		got, want := describe(v), fmt.Sprintf("%v %v", l.dtype(), p.Shape)
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", p.Name, got, want))
			continue
		}
		rows[p.Name] = v
		if v.RequiresIterator() {
			rows[p.Name] = v.Materialize().(*tensor.Dense)
		}
	}
	for name, v := range state {
		if !known[name] {
			unknown = append(unknown, fmt.Sprintf("%s %s", name, describe(v)))
		}
	}
	var all []string
	for _, list := range []struct {
		label string
		found []string
	}{{"missing ", missing}, {"unknown ", unknown}, {"", wrong}} {
		if len(list.found) > 0 {
			slices.Sort(list.found)
			all = append(all, list.label+strings.Join(list.found, ", "))
		}
	}
	if len(all) > 0 {
		return nil, errors.New(strings.Join(all, "; "))
	}
	return rows, nil
}

// describe is a tensor's type and shape, as in "float32 (2, 3)".
func describe(v *tensor.Dense) string {
	switch {
	case v == nil:
		return "nil"
	case v.DataOrder().IsColMajor() && !v.RequiresIterator():
		return fmt.Sprintf("%v %v in column-major order", v.Dtype(), v.Shape())
	}
	return fmt.Sprintf("%v %v", v.Dtype(), v.Shape())
}

// dtype is the type of all parameters.
func (l *Attention) dtype() tensor.Dtype {
	first := l.form.parameters(l.config)[0]
	return l.params[first.Name].params.Dtype()
}

// convert is a state in another layout, in memory of its own.
func (l *Attention) convert(state map[string]*tensor.Dense, from, to AttentionConfig) map[string]*tensor.Dense {
	converted := map[string]*tensor.Dense{}
	for _, p := range l.form.parameters(to) {
		if v, ok := state[p.Name]; ok { // names mean the same in all layouts
			converted[p.Name] = v.Clone().(*tensor.Dense)
		} else {
			converted[p.Name] = tensor.New(tensor.Of(l.dtype()), tensor.WithShape(p.Shape...))
		}
	}
	sources := from.pieces()
	for i, dst := range to.pieces() {
		if _, there := converted[dst.of]; there { // a bare form has no output projection
			dst.copyFrom(converted[dst.of], sources[i], state[sources[i].of])
		}
	}
	return converted
}

// piece is where a weight (rows, cols) or a bias (rows) of one projection lies in a
// parameter.
type piece struct {
	of           string // the parameter
	at           int    // its element that is the piece's first
	rows, cols   int
	byRow, byCol int // steps to the next row and column
}

// pieces are those of all projections. Two layouts of one config have the same, in the
// same order, in different places.
func (c AttentionConfig) pieces() []piece {
	var list []piece
	l, outs, ins := c.layout(), c.projected(), [3]int{c.Width, c.KeyWidth, c.ValueWidth}
	weight := func(of string, first, rows, ofRows, cols int) {
		p := piece{of, first * cols, rows, cols, cols, 1}
		if l.transposed {
			p = piece{of, first, rows, cols, 1, ofRows}
		}
		list = append(list, p)
	}
	bias := func(there bool, of string, first, rows int) {
		if there {
			list = append(list, piece{of, first, rows, 1, 1, 0})
		}
	}
	all, first := outs[0]+outs[1]+outs[2], 0
	for i, rows := range outs {
		if l.packed != "" {
			weight(l.packed, first, rows, all, ins[i])
		} else {
			weight(l.weights[i], 0, rows, rows, ins[i])
		}
		if l.packedBias != "" {
			bias(c.QKVBias, l.packedBias, first, rows)
		} else {
			bias(c.QKVBias, l.biases[i], 0, rows)
		}
		first += rows
	}
	weight(l.out, 0, c.Out, c.Out, c.contextWidth())
	bias(c.OutBias, l.outBias, 0, c.Out)
	return list
}

// copyFrom sets the piece in dst to another of its size in src.
func (p piece) copyFrom(dst *tensor.Dense, from piece, src *tensor.Dense) {
	if dst.Dtype() == tensor.Float32 {
		copyPiece(p, dst.Float32s(), from, src.Float32s())
		return
	}
	copyPiece(p, dst.Float64s(), from, src.Float64s())
}

func copyPiece[F float32 | float64](p piece, dst []F, from piece, src []F) {
	for r := range p.rows {
		for c := range p.cols {
			dst[p.at+r*p.byRow+c*p.byCol] = src[from.at+r*from.byRow+c*from.byCol]
		}
	}
}
