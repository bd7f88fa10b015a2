package stock

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
)

// settings reads integer fields of an op, in order. It reports whether the op has them.
func settings(op G.Op, names ...string) (values []int, ok bool) {
	v := reflect.Indirect(reflect.ValueOf(op))
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	for _, name := range names {
		f := v.FieldByName(name)
		if !f.IsValid() || !f.CanInt() {
			return nil, false
		}
		values = append(values, int(f.Int()))
	}
	return values, true
}

// Name returns what Of recognises an op by: its type, and its word if the type stands for several ops.
func Name(op G.Op) string {
	kind := fmt.Sprintf("%T", op)
	switch kind {
	case "gorgonia.elemBinOp", "gorgonia.elemUnaryOp":
		word, _, _ := strings.Cut(op.String(), " ")
		return kind + " " + word
	}
	return kind
}

// Names returns the sorted names of all ops that Of knows.
func Names() []string {
	var names []string
	add := func(kind string, words iter.Seq[string]) {
		for word := range words {
			names = append(names, kind+" "+word)
		}
	}
	for kind := range families {
		switch kind {
		case "gorgonia.elemBinOp":
			add(kind, maps.Keys(operations))
			add(kind, slices.Values([]string{power}))
		case "gorgonia.elemUnaryOp":
			add(kind, maps.Keys(unaryKernels))
			add(kind, maps.Keys(unaryLoops))
		default:
			names = append(names, kind)
		}
	}
	slices.Sort(names)
	return names
}
