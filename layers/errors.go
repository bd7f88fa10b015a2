package layers

import (
	"errors"
	"fmt"

	"attention/internal/config"
)

// layerError is an error with its place in a model.
type layerError struct {
	name string // of the layer, as from Scope.name, or of the parameter
	err  error
}

func (e *layerError) Error() string { return "layers: " + e.name + ": " + e.err.Error() }

func (e *layerError) Unwrap() error { return e.err }

// errorf returns an error of the layer or parameter called name.
func errorf(name, format string, args ...any) error {
	return &layerError{name, fmt.Errorf(format, args...)}
}

// inLayer prefixes err with the layer's name, unless an inner layer already did.
func inLayer(name string, err error) error {
	var inner *layerError
	if err == nil || errors.As(err, &inner) {
		return err
	}
	return &layerError{name, err}
}

// name returns what errors call a layer made in the scope: its path in the model, if it has
// one, and its type.
func (s Scope) name(layer string) string {
	if s.path == "" {
		return layer
	}
	return s.path + ": " + layer
}

// tablesFit refuses the first of the fields of config c, each the rows of a table of the
// width of another field, that makes the table too large.
func tablesFit(c any, width string, widthOf int, tables ...table) error {
	for _, t := range tables {
		if t.rows > maxElements/widthOf {
			return config.Errorf(c, t.field, "got %d for %s=%d, want at most %d elements in a weight",
				t.rows, config.Field(width), widthOf, maxElements)
		}
	}
	return nil
}

// table is a field of a config that is the number of rows of a table.
type table struct {
	field string
	rows  int
}
