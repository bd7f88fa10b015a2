package graph

import (
	"fmt"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ShapeError says that an argument of an op has a shape it cannot work with.
type ShapeError struct {
	Op, Arg string       // as in the function's signature
	Got     tensor.Shape // what was passed
	Want    string       // what would do, in the package's letters
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("graph: %s: %s: shape %v, want %s", e.Op, e.Arg, e.Got, e.Want)
}

// TypeError says that an argument of an op is of a type it cannot work with.
type TypeError struct {
	Op, Arg string
	Got     string
	Want    string
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("graph: %s: %s: got %s, want %s", e.Op, e.Arg, e.Got, e.Want)
}

// checkArgs refuses what no op can take: missing nodes, nodes of another graph
// and element types that do not go together.
func checkArgs(name string, args []arg, in G.Nodes) error {
	var float tensor.Dtype
	for i, a := range args {
		bad := func(got, want string) error { return &TypeError{Op: name, Arg: a.name, Got: got, Want: want} }
		n := in[i]
		if n == nil {
			return bad("nil", "a node")
		}
		if n.Graph() == nil {
			return bad("a node of no graph", "one of a graph")
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
			if !isInteger && dt != tensor.Float32 && dt != tensor.Float64 {
				return bad(dt.String(), "float32, float64, int or int64")
			}
		case a.integer:
			if !isInteger {
				return bad(dt.String(), "int or int64")
			}
		case dt != tensor.Float32 && dt != tensor.Float64:
			return bad(dt.String(), "float32 or float64")
		case float.Type != nil && dt != float:
			return bad(dt.String(), float.String()+" as the arguments before it")
		default:
			float = dt
		}
	}
	return nil
}

// shapeWithAny prints a shape with a letter for the axis that is −1.
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
