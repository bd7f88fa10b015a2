package layers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/oneline"

	"gorgonia.org/tensor"
)

// State returns a copy of the parameters with the names and shapes of a layout, whatever the
// layer's own layout is: the contents of PyTorch's state_dict. An empty layout means Book, as
// in the config. GPT2 and PerHead cannot express every layer. With a ContextLength a causal
// layer's state of Book and PerHead has the buffers of the book's classes, too, so that
// load_state_dict takes it with strict=True.
func (l *Attention) State(layout Layout) (map[string]*tensor.Dense, error) {
	to, err := l.as(layout)
	if err != nil {
		return nil, err
	}
	own := map[string]*tensor.Dense{}
	for name := range parametersOf(l.config).Shapes() {
		own[name] = l.value(name)
	}
	state := convert(own, l.config, to, l.scope.params.Dtype())
	for name, b := range parametersOf(to).Buffers() {
		if v := b.Value(l.scope.params.Dtype()); v != nil {
			state[name] = v
		}
	}
	return state, nil
}

// SetState copies a state of a layout into the parameters; every graph sees it. The state
// must have all names of that layout (see Declare), with their shapes and the parameters'
// type, and no others but its Buffers. If not, the error lists all that is wrong and nothing
// is set.
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

// value returns the layer's parameter called name.
func (l *Attention) value(name string) *tensor.Dense {
	return l.scope.params.values[l.scope.join(name)]
}

// parametersOf returns the names and shapes of a valid config's parameters.
func parametersOf(c AttentionConfig) *Params {
	p, _ := Declare(newAttention, c)
	return p
}

// checkState returns a state with every tensor in row-major order, or an error that lists all
// that is wrong, by name.
func checkState(p *Params, dt tensor.Dtype, state map[string]*tensor.Dense) (map[string]*tensor.Dense, error) {
	var missing, unknown, wrong []string
	rows := map[string]*tensor.Dense{}
	for name, shape := range p.Shapes() {
		v, ok := state[name]
		if !ok {
			missing = append(missing, fmt.Sprintf("%s %v", name, shape))
			continue
		}
		if got, want := describe(v), fmt.Sprintf("%v %v", dt, shape); got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", name, got, want))
			continue
		}
		rows[name] = v
		if v.RequiresIterator() {
			rows[name] = v.Materialize().(*tensor.Dense)
		}
	}
	buffers := maps.Collect(p.Buffers())
	for name, v := range state {
		b, buffer := buffers[name]
		if _, known := p.shapes[name]; buffer {
			if err := b.Check(v); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", name, err))
			}
		} else if !known {
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
			all = append(all, list.label+oneline.List(list.found, 10))
		}
	}
	if len(all) > 0 {
		return nil, errors.New(strings.Join(all, "; "))
	}
	return rows, nil
}

// describe returns a tensor's type and shape, as in "float32 (2, 3)".
func describe(v *tensor.Dense) string {
	switch {
	case v == nil:
		return "nil"
	case v.DataOrder().IsColMajor() && !v.RequiresIterator():
		return fmt.Sprintf("%v %v in column-major order", v.Dtype(), v.Shape())
	}
	return fmt.Sprintf("%s %v", dense.TypeName(v.Dtype()), v.Shape())
}

// convert returns a copy of a state in another layout. Names that two layouts share mean the
// same.
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
			w, v := to.weightRow(p, row), from.weightRow(p, row)
			copyRow(converted[w.name], w, state[v.name], v, p.in)
			if p.bias {
				w, v := to.biasRow(p, row), from.biasRow(p, row)
				copyRow(converted[w.name], w, state[v.name], v, 1)
			}
		}
	}
	return converted
}
