package stock

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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

// integers reads the integers in an op's text between before and after, separated by between. It reports whether the
// text has this form.
func integers(text, before, between, after string) (all []int, ok bool) {
	text, begins := strings.CutPrefix(text, before)
	text, ends := strings.CutSuffix(text, after)
	if !begins || !ends || text == "" {
		return nil, begins && ends
	}
	for word := range strings.SplitSeq(text, between) {
		i, err := strconv.Atoi(word)
		if err != nil {
			return nil, false
		}
		all = append(all, i)
	}
	return all, true
}

// axisOf reads the axis of a shape between before and after in an op's text. It reports whether there is one.
func axisOf(text, before, after string, shape tensor.Shape) (axis int, ok bool) {
	all, ok := integers(text, before, " ", after)
	if !ok || len(all) != 1 || all[0] < 0 || all[0] >= shape.Dims() {
		return 0, false
	}
	return all[0], true
}

// Name returns the name by which Of recognises an op: its type, and its word if the type has several ops.
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
