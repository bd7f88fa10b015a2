package layers

import (
	"errors"
	"fmt"

	"attention/internal/config"
)

// layerError is an error with its place in a model.
type layerError struct {
	name string // path of the layer, from Scope.name, or of the parameter
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

// name returns the name in errors of a layer made in the scope: its path in the model, if it has one, and its type.
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

// tablesFit returns an error for the first of some fields of config c that makes a table too large. Each field is the
// number of rows of a table whose width is another field.
func tablesFit(c any, width string, columns int, rows ...size) error {
	for _, r := range rows {
		if r.number > maxElements/columns {
			return config.Errorf(c, r.field, "got %d for %s=%d, want at most %d elements in a weight",
				r.number, config.Field(width), columns, maxElements)
		}
	}
	return nil
}

// widthsAgree returns an error for the first of some fields of config c that does not equal another field.
func widthsAgree(c any, width string, want int, fields ...size) error {
	for _, f := range fields {
		if f.number != want {
			return config.Errorf(c, f.field, "got %d, want %s=%d", f.number, config.Field(width), want)
		}
	}
	return nil
}
