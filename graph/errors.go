package graph

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"attention/graph/mask"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ShapeError is the error for an argument with a shape that an op does not accept.
type ShapeError struct {
	Op, Arg string       // as in the function's signature
	Got     tensor.Shape // the shape that was passed
	Want    string       // what would be accepted, in the package's letters
}

// Error names the op, the argument, the value it got and the value it wants.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("graph: %s: %s: shape %v, want %s", e.Op, e.Arg, e.Got, e.Want)
}

// TypeError is the error for an argument with a type that an op does not accept.
type TypeError struct {
	Op, Arg string
	Got     string
	Want    string
}

// Error names the op, the argument, the value it got and the value it wants.
func (e *TypeError) Error() string {
	return fmt.Sprintf("graph: %s: %s: got %s, want %s", e.Op, e.Arg, e.Got, e.Want)
}

// checkArgs returns an error for arguments that no op accepts: missing nodes, nodes of different graphs, and element
// types that do not match.
func checkArgs(name string, args []arg, in G.Nodes) error {
	var float tensor.Dtype
	for i, a := range args {
		bad := func(got, want string) error { return &TypeError{Op: name, Arg: a.name, Got: got, Want: want} }
		n := in[i]
		if n == nil && a.optional {
			continue
		}
		if n == nil {
			return bad("nil", "a node")
		}
		if n.Graph() == nil {
			return bad("a node of no graph", "one of a graph; b.Graph().Constant(v) is one")
		}
		if n.Graph() != in[0].Graph() {
			return bad("a node of another graph", "one of "+args[0].name+"'s")
		}
		if t, ok := n.Type().(G.TensorType); ok && t.Dims != len(n.Shape()) {
			return bad("a node without a shape", "one with")
		}
		dt := n.Dtype()
		isInteger := dt == tensor.Int || dt == tensor.Int64
		switch {
		case a.anyNumber:
			if !slices.Contains(mask.KeepTypes(), dt) {
				return bad(dense.TypeName(dt), "bools, integers or floats")
			}
		case a.integer:
			if !isInteger {
				return bad(dense.TypeName(dt), "int or int64")
			}
		case !dense.IsFloat(dt) && !(a.stored && dense.IsStored(dt)):
			return bad(dense.TypeName(dt), "float32 or float64")
		case float.Type != nil && computingType(dt) != float:
			return bad(dense.TypeName(dt), float.String()+" as the arguments before it")
		default:
			float = computingType(dt)
		}
	}
	return nil
}

// checked returns arguments that checkArgs accepts. A stored argument is widened if the op does not read stored ones.
func checked(name string, args []arg, in ...*G.Node) (G.Nodes, error) {
	in, err := widenOthers(args, in)
	if err != nil {
		return nil, err
	}
	return in, checkArgs(name, args, in)
}

// checkNotEmpty returns an error for a shape without elements.
func checkNotEmpty(op, arg string, s tensor.Shape) error {
	if slices.Contains(s, 0) {
		return &ShapeError{op, arg, s, "every axis at least 1"}
	}
	return nil
}

// checkResult returns an error for a result that does not fit into memory.
func checkResult(op string, out tensor.Shape) error {
	if slices.ContainsFunc(out, func(d int) bool { return d < 1 }) || !dense.Fits(out...) {
		return fmt.Errorf("graph: %s: result: shape %v, want axes of at least 1 and at most %d elements",
			op, out, dense.MaxElements)
	}
	return nil
}

// checkWanted returns an error for the first argument whose shape is not the wanted one. An optional one may be
// missing.
func checkWanted(op string, args []arg, in []tensor.Shape, wants ...tensor.Shape) error {
	for i, want := range wants {
		if in[i] != nil && !slices.Equal(in[i], want) {
			return &ShapeError{op, args[i].name, in[i], fmt.Sprint(want)}
		}
	}
	return nil
}

// shapeWithAny formats a shape with a letter for the axis that is −1.
func shapeWithAny(s tensor.Shape, letter string) string {
	axes := make([]string, len(s))
	for i, d := range s {
		axes[i] = strconv.Itoa(d)
		if d < 0 {
			axes[i] = letter
		}
	}
	return "(" + strings.Join(axes, ", ") + ")"
}

// fitting returns an error if a float type rounds a setting of an op, or its inverse, to 0 or ∞.
func fitting(dt tensor.Dtype, x float64) error {
	most := dense.ByType(dt, math.MaxFloat32, math.MaxFloat64)
	if least := 1 / most; math.Abs(x) < least || math.Abs(x) > most {
		return fmt.Errorf("got %v, want a size of %.3g to %.3g for %v", x, least, most, dt)
	}
	return nil
}

// last returns the length of a shape's last axis.
func last(s tensor.Shape) int { return s[len(s)-1] }
