package graph

import (
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"strconv"
	"unsafe"

	"attention/internal/kernel"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A body is what one kind of op computes: its shape rule, its forward and its
// backward. It is a plain struct whose fields are the op's settings; two equal
// bodies on equal inputs are one node.
type body interface {
	// spec names the op and its arguments.
	spec() (name string, args []arg)
	// shape checks the inputs' shapes and returns the output's.
	shape(in []tensor.Shape) (tensor.Shape, error)
	// forward fills out; inputs and output are contiguous and row-major.
	forward(out *tensor.Dense, in []*tensor.Dense) error
	// backward returns the gradient of every differentiable input.
	backward(in G.Nodes, out, grad *G.Node) (G.Nodes, error)
}

type arg struct {
	name      string
	integer   bool // holds ids or keys
	fixed     bool // no gradient flows into it
	anyNumber bool // of any type of floats or integers, whatever the others are
}

// apply checks the arguments and adds the op to the graph.
func apply(b body, in ...*G.Node) (*G.Node, error) {
	name, args := b.spec()
	if err := checkArgs(name, args, in); err != nil {
		return nil, err
	}
	shapes := make([]tensor.Shape, len(in))
	types := make([]hm.Type, len(in)+1)
	var dt tensor.Dtype
	for i, n := range in {
		shapes[i], types[i] = n.Shape(), n.Type()
		if !args[i].integer && !args[i].anyNumber {
			dt = n.Dtype()
		}
		if slices.Contains(shapes[i], 0) {
			return nil, &ShapeError{name, args[i].name, shapes[i], "every axis at least 1"}
		}
	}
	out, err := b.shape(shapes)
	if err != nil {
		return nil, err
	}
	types[len(in)] = valueType(dt, out.Dims())
	return G.ApplyOp(op{body: b, args: args, types: types, out: out, dt: dt}, in...)
}

func valueType(dt tensor.Dtype, dims int) hm.Type {
	if dims == 0 {
		return dt
	}
	return G.TensorType{Dims: dims, Of: dt}
}

// op makes a Gorgonia op of a body.
type op struct {
	body
	args  []arg
	types []hm.Type // of the inputs, then of the output
	out   tensor.Shape
	dt    tensor.Dtype
}

var (
	_ G.SDOp            = op{}
	_ G.UsePreallocDoer = op{}
)

func (o op) Arity() int           { return len(o.args) }
func (o op) ReturnsPtr() bool     { return true }
func (o op) CallsExtern() bool    { return false }
func (o op) OverwritesInput() int { return -1 }
func (o op) Type() hm.Type        { return hm.NewFnType(o.types...) }

// WriteHash writes every setting: Gorgonia merges nodes whose ops hash alike.
func (o op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%#v", o.body) }

func (o op) String() string {
	name, _ := o.spec()
	return name
}

func (o op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// OverwritesPrealloc tells a machine that UsePreallocDo reads nothing of the
// memory it is given and returns no view of an input.
func (o op) OverwritesPrealloc() bool { return true }

// InPlace is the input whose memory a machine may let the op compute into.
func (o op) InPlace() int {
	if b, ok := o.body.(interface{ inPlace() int }); ok {
		return b.inPlace()
	}
	return -1
}

// View is the input that the op's result is a part of, and where that part begins;
// −1 for an op that computes something.
func (o op) View() (input, from int) {
	if b, ok := o.body.(interface{ view(inputs int) (int, int) }); ok {
		return b.view(len(o.args))
	}
	return -1, 0
}

// FillsInfinity tells a machine that looks for what is not finite that this op
// means it.
func (o op) FillsInfinity() bool {
	m, ok := o.body.(maskFill)
	return ok && m.Hidden != 0
}

func (o op) InferShape(...G.DimSizer) (tensor.Shape, error) { return o.out.Clone(), nil }

func (o op) DiffWRT(int) []bool {
	d := make([]bool, len(o.args))
	for i, a := range o.args {
		d[i] = !a.integer && !a.fixed
	}
	return d
}

func (o op) SymDiff(in G.Nodes, out, grad *G.Node) (G.Nodes, error) {
	return o.backward(in, out, grad)
}

func (o op) Do(in ...G.Value) (G.Value, error) {
	return o.UsePreallocDo(tensor.New(tensor.Of(o.dt), tensor.WithShape(o.out...)), in...)
}

// UsePreallocDo computes into out's memory, which may hold anything.
func (o op) UsePreallocDo(out G.Value, in ...G.Value) (G.Value, error) {
	dense := make([]*tensor.Dense, len(in))
	for i, v := range in {
		d, err := contiguous(v)
		if err != nil {
			name, _ := o.spec()
			return nil, fmt.Errorf("graph: %s: %s: %w", name, o.args[i].name, err)
		}
		dense[i] = d
	}
	dst, ok := out.(*tensor.Dense)
	if !ok || o.out.IsScalar() {
		dst = tensor.New(tensor.Of(o.dt), tensor.WithShape(1))
	}
	if err := o.forward(dst, dense); err != nil {
		return nil, err
	}
	if !o.out.IsScalar() {
		return dst, nil
	}
	if o.dt == tensor.Float32 {
		return G.NewF32(floats[float32](dst)[0]), nil
	}
	return G.NewF64(floats[float64](dst)[0]), nil
}

// contiguous returns v as a dense row-major tensor, copying only what is not.
func contiguous(v G.Value) (*tensor.Dense, error) {
	switch v := v.(type) {
	case *tensor.Dense:
		if !v.RequiresIterator() && !v.DataOrder().IsColMajor() {
			return v, nil
		}
		if d, ok := v.Materialize().(*tensor.Dense); ok && !d.DataOrder().IsColMajor() {
			return d, nil
		}
		return nil, fmt.Errorf("got a tensor in column-major order, want row-major")
	case G.Scalar:
		return tensor.New(tensor.FromScalar(v.Data())), nil
	}
	return nil, fmt.Errorf("got a %T, want a *tensor.Dense or a scalar", v)
}

// floats is a tensor's memory as a slice, of one element for a scalar.
func floats[F kernel.Float](t *tensor.Dense) []F {
	var f F
	if _, ok := any(f).(float32); ok {
		return any(t.Float32s()).([]F)
	}
	return any(t.Float64s()).([]F)
}

// last is the length of a shape's last axis.
func last(s tensor.Shape) int { return s[len(s)-1] }

// noSecond ends a backward op: none of this package can be differentiated twice.
func noSecond(b body) (G.Nodes, error) {
	name, _ := b.spec()
	return nil, fmt.Errorf("graph: %s: a gradient has no derivative of its own here", name)
}

// ints is an integer tensor's elements as int64s, to be read only.
func ints(t *tensor.Dense) []int64 {
	switch d := t.Data().(type) {
	case []int64:
		return d
	case int64:
		return []int64{d}
	case []int:
		if strconv.IntSize == 64 { // then an int is an int64
			return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(d))), len(d))
		}
		ids := make([]int64, len(d))
		for i, id := range d {
			ids[i] = int64(id)
		}
		return ids
	case int:
		return []int64{int64(d)}
	}
	return nil
}

// byType picks the float32 or the float64 form of a function.
func byType[T any](t *tensor.Dense, f32, f64 T) T {
	if t.Dtype() == tensor.Float32 {
		return f32
	}
	return f64
}
