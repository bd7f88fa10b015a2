package layers

import (
	"errors"
	"fmt"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// layerError says where in a model something is wrong.
type layerError struct {
	name string // of the layer, as from Scope.name, or of the parameter
	err  error
}

func (e *layerError) Error() string { return "layers: " + e.name + ": " + e.err.Error() }

func (e *layerError) Unwrap() error { return e.err }

// errorf is an error of the layer or parameter called name.
func errorf(name, format string, args ...any) error {
	return &layerError{name, fmt.Errorf(format, args...)}
}

// inLayer says of an error in a layer's graph where it came up, if none of the layers
// within has said so.
func inLayer(name string, err error) error {
	var inner *layerError
	if err == nil || errors.As(err, &inner) {
		return err
	}
	return &layerError{name, err}
}

// result returns the node that a layer's formula ends in, or nil and its error, in the
// layer's name.
func result(name string, f *expr.Formula, n *G.Node) (*G.Node, error) {
	n, err := f.Result(n)
	return n, inLayer(name, err)
}

// result2 is result for a formula with two results.
func result2(name string, f *expr.Formula, n, m *G.Node) (*G.Node, *G.Node, error) {
	n, m, err := f.Result2(n, m)
	return n, m, inLayer(name, err)
}

// within says of an error of a config what the config belongs to.
func within(outer string, err error) error {
	if inner, ok := err.(*layerError); ok {
		return &layerError{outer + ": " + inner.name, inner.err}
	}
	return err
}

// name is what errors call a layer made here: its path in the model, unless that is
// empty, and its type.
func (s Scope) name(layer string) string {
	if s.path == "" {
		return layer
	}
	return s.path + ": " + layer
}

// locate says of an error of Validate where the layer was to be made.
func (s Scope) locate(err error) error {
	if s.path == "" {
		return err
	}
	return within(s.path, err)
}
