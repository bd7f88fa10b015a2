package layers

import (
	"fmt"

	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

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

// checkSequence refuses a node that is no sequence (T, in) or (B, T, in) of the build's
// graph and type, with T at most maxT; 0 leaves in or maxT free. After an error of the
// build it returns that, since x may only stand for a missing node.
func checkSequence(layer, arg string, b *Build, x *G.Node, in, maxT int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if x == nil {
		return errorf(layer, "%s: got nil, want a node", arg)
	}
	want := "([B,] T"
	if arg == "key" || arg == "value" {
		want = "([B,] S"
	}
	if maxT > 0 {
		want += fmt.Sprintf(" <= %d", maxT)
	}
	if in > 0 {
		want += fmt.Sprintf(", %d)", in)
	} else {
		want += ", E)"
	}
	s := x.Shape()
	n := s.Dims()
	if n != 2 && n != 3 || in > 0 && s[n-1] != in || maxT > 0 && s[n-2] > maxT {
		return errorf(layer, "%s: shape %v, want %s", arg, s, want)
	}
	if dt := b.Params().Dtype(); x.Dtype() != dt {
		return errorf(layer, "%s: got %v, want %v as the parameters", arg, x.Dtype(), dt)
	}
	return nil
}

// checkIDs refuses a node that is no ids (T) or (B, T), with T at most maxT. After an
// error of the build it returns that.
func checkIDs(layer, arg string, b *Build, ids *G.Node, maxT int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if ids == nil {
		return errorf(layer, "%s: got nil, want a node", arg)
	}
	if n := len(ids.Shape()); n < 1 || n > 2 || last(ids) > maxT {
		return errorf(layer, "%s: shape %v, want ([B,] T <= %d)", arg, ids.Shape(), maxT)
	}
	if dt := ids.Dtype(); dt != tensor.Int && dt != tensor.Int64 {
		return errorf(layer, "%s: got %v, want int or int64", arg, dt)
	}
	return nil
}

// length returns the T of (…, T, E).
func length(x *G.Node) int { return x.Shape()[x.Dims()-2] }

// last returns the length of a node's last axis.
func last(x *G.Node) int { return x.Shape()[x.Dims()-1] }
