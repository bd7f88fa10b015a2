package layers

import (
	"fmt"
	"maps"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// State returns a copy of the parameters with the names and shapes of a layout, whatever the layer's own layout is: the
// contents of PyTorch's state_dict. An empty layout means Book, as in the config. GPT2 and PerHead cannot express every
// layer. If the layer has a ContextLength, the state of a causal layer in Book and PerHead also has the buffers of the
// book's classes, so that load_state_dict accepts it with strict=True.
func (l *Attention) State(layout Layout) (map[string]*tensor.Dense, error) {
	to, err := l.as(layout)
	if err != nil {
		return nil, err
	}
	own := map[string]*tensor.Dense{}
	for name := range parametersOf(l.config).Shapes() {
		own[name] = l.scope.params.values[l.scope.join(name)]
	}
	state := convert(own, l.config, to, l.scope.params.Dtype())
	for name, n := range parametersOf(to).Buffers() {
		if v := CausalMask(l.scope.params.Dtype(), n); v != nil {
			state[name] = v
		}
	}
	return state, nil
}

// SetState copies a state in a layout into the parameters; all graphs then use it. The state must have exactly the
// names of that layout (see Declare), with their shapes and the parameters' type, apart from its Buffers, which are
// optional. Otherwise the error lists all problems and nothing is set.
func (l *Attention) SetState(layout Layout, state map[string]*tensor.Dense) error {
	from, err := l.as(layout)
	if err != nil {
		return err
	}
	rows, err := checkState(parametersOf(from), l.scope.params.Dtype(), state)
	if err != nil {
		return errorf(l.name, "state of layout %q: %w", from.Layout, err)
	}
	for name, v := range convert(rows, from, l.config, l.scope.params.Dtype()) {
		if err := l.scope.params.Set(l.scope.join(name), v); err != nil {
			return err
		}
	}
	return nil
}

// as returns the config with another layout.
func (l *Attention) as(layout Layout) (AttentionConfig, error) {
	c := l.config
	c.Layout = layout
	c = c.resolved()
	return c, inLayer(l.name, c.validateLayout())
}

// parametersOf returns the names and shapes of a valid config's parameters.
func parametersOf(c AttentionConfig) *Params {
	p, _ := Declare(newAttention, c)
	return p
}

// checkState returns a state without buffers and with every tensor in row-major order, or an error that lists all
// problems by name.
func checkState(p *Params, dt tensor.Dtype, state map[string]*tensor.Dense) (map[string]*tensor.Dense, error) {
	rows := maps.Clone(state)
	for name, n := range p.Buffers() {
		v, ok := state[name]
		if !ok {
			continue
		}
		if err := CheckCausalMask(v, n); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		delete(rows, name)
	}
	for name, v := range rows {
		if dense.IsTensor(v) && v.RequiresIterator() {
			rows[name] = v.Materialize().(*tensor.Dense)
		}
	}
	var want []dense.Signature
	for name, shape := range p.Shapes() {
		want = append(want, dense.Signature{Name: name, Form: fmt.Sprintf("%v %v", dt, shape)})
	}
	return rows, dense.Compare(want, dense.Signatures("", maps.All(rows)))
}

// convert returns a copy of a state in another layout. Names that occur in both layouts have the same meaning.
func convert(state map[string]*tensor.Dense, from, to AttentionConfig, dt tensor.Dtype) map[string]*tensor.Dense {
	converted := map[string]*tensor.Dense{}
	for name, shape := range parametersOf(to).Shapes() {
		if v, ok := state[name]; ok {
			converted[name] = v.Clone().(*tensor.Dense)
		} else {
			converted[name] = tensor.New(tensor.Of(dt), tensor.WithShape(shape...))
		}
	}
	for _, p := range to.matrices() {
		for row := range p.out {
			w, v := to.row(p, row), from.row(p, row)
			copyRow(converted[w.name], w, state[v.name], v, p.in)
		}
	}
	return converted
}

// matrix is one of an attention's linear maps, its weight (out, in) or its bias (out, 1).
type matrix struct {
	index   int // 0 to 2 are the maps of queries, keys and values, 3 the output's
	out, in int
	bias    bool
}

// matrices returns the linear maps of a config that layouts store in different ways. The maps of latents are the same
// in all layouts.
func (c AttentionConfig) matrices() (list []matrix) {
	add := func(index, out, in int, bias bool) {
		list = append(list, matrix{index, out, in, false})
		if bias {
			list = append(list, matrix{index, out, 1, true})
		}
	}
	if c.Latent == nil {
		for i, in := range []int{c.EmbedDim, c.KDim, c.VDim} {
			add(i, c.projected()[i], in, c.QKVBias)
		}
	}
	if !c.ContextOnly {
		add(3, c.OutDim, c.contextWidth(), c.OutBias)
	}
	return list
}

// place is the position of numbers within a parameter.
type place struct {
	name     string
	at, step int // the first number, and the distance to the next
}

// row returns the place of a row of a matrix; the numbers of the row belong to one element of the result.
func (c AttentionConfig) row(p matrix, row int) place {
	l, widths, rows := c.layout(), c.projected(), p.out
	names, packed, out := l.weights, l.packed, l.out
	if p.bias {
		names, packed, out = l.biases, l.packedBias, l.outBias
	}
	var name string
	switch {
	case p.index == 3:
		name = out
	case packed != "": // all projections, concatenated
		for _, before := range widths[:p.index] {
			row += before
		}
		name, rows = packed, widths[0]+widths[1]+widths[2]
	case c.Layout == PerHead:
		of := rows / c.NumHeads
		name, row = headPath(row/of)+"."+names[p.index], row%of
	default:
		name = names[p.index]
	}
	if l.transposed && !p.bias {
		return place{name, row, rows}
	}
	return place{name, row * p.in, 1}
}

// copyRow copies n numbers.
func copyRow(dst *tensor.Dense, to place, src *tensor.Dense, from place, n int) {
	dense.ByType(dst.Dtype(), copySteps[float32], copySteps[float64])(dst, to, src, from, n)
}

func copySteps[F float32 | float64](dst *tensor.Dense, to place, src *tensor.Dense, from place, n int) {
	y, x := dense.Floats[F](dst), dense.Floats[F](src)
	for i := range n {
		y[to.at+i*to.step] = x[from.at+i*from.step]
	}
}
