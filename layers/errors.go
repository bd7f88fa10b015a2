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

// size is a field of a config that is a number of rows or columns.
type size struct {
	field  string
	number int
}

// tablesFit refuses the first of the fields of config c, each the rows of a table of the
// width of another field, that makes the table too large.
func tablesFit(c any, width string, columns int, rows ...size) error {
	for _, r := range rows {
		if r.number > maxElements/columns {
			return config.Errorf(c, r.field, "got %d for %s=%d, want at most %d elements in a weight",
				r.number, config.Field(width), columns, maxElements)
		}
	}
	return nil
}

// widthsAgree refuses the first of the fields of config c that is not as wide as another field.
func widthsAgree(c any, width string, want int, fields ...size) error {
	for _, f := range fields {
		if f.number != want {
			return config.Errorf(c, f.field, "got %d, want %s=%d", f.number, config.Field(width), want)
		}
	}
	return nil
}
