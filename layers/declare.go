package layers

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"
)

// Declare returns the parameters that a constructor makes for a config, as in
// Declare(NewGPT, config), with names and shapes but without values: nothing is allocated
// or drawn. Their Dtype is float32. A wrong config is the constructor's error.
func Declare[C, L any](construct func(Scope, C) (L, error), config C) (*Params, error) {
	if construct == nil {
		return nil, errors.New("layers: declare: got nil, want a constructor")
	}
	p := NewParams(tensor.Float32, 0)
	p.start = declared
	_, err := construct(p.Scope(""), config)
	return p, err
}

// checked validates a layer's config and calls construct, which need not validate it again.
func checked[C interface{ validate() error }, L any](s Scope, layer string, c C,
	construct func(Scope, C) (*L, error),
) (*L, error) {
	if err := c.validate(); err != nil {
		return nil, inLayer(s.name(layer), err)
	}
	return construct(s, c)
}

// A maker makes the parameters and the parts of a layer. It keeps the first error.
type maker struct {
	scope Scope
	err   error
}

// param makes a parameter.
func (m *maker) param(name string, init Init, shape ...int) (p Param) {
	if m.err == nil {
		p, m.err = m.scope.Param(name, init, shape...)
	}
	return p
}

// weight makes the weight of a linear map, which may get an adapter.
func (m *maker) weight(name string, init Init, at layout, out, in int) Param {
	rows, columns := out, in
	if at.transposed {
		rows, columns = in, out
	}
	p := m.param(name, init, rows, columns)
	if m.err == nil {
		m.scope.params.linear[p.name] = linearMap{transposed: at.transposed}
	}
	return p
}

// paramIf makes a parameter if wanted is true.
func (m *maker) paramIf(wanted bool, name string, init Init, shape ...int) Param {
	if !wanted {
		return Param{}
	}
	return m.param(name, init, shape...)
}

// part makes a layer in the scope called name.
func part[C, L any](m *maker, name string, construct func(Scope, C) (*L, error), c C) (l *L) {
	if m.err == nil {
		l, m.err = construct(m.scope.Sub(name), c)
	}
	return l
}

// stack makes n equal layers in the scopes path.0, path.1, ….
func stack[C, L any](m *maker, path string, n int, construct func(Scope, C) (*L, error), c C) (all []*L) {
	for i := range n {
		all = append(all, part(m, fmt.Sprintf("%s.%d", path, i), construct, c))
	}
	return all
}

// done returns a layer, or nil and the first error of its parts.
func done[L any](m *maker, l *L) (*L, error) {
	if m.err != nil {
		return nil, m.err
	}
	return l, nil
}
