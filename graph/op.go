package graph

import (
	"fmt"
	"hash"
	"hash/fnv"

	"attention/internal/dense"
	"attention/internal/simd"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// applyTyped applies the body instantiated for the type of the first argument of floats.
func applyTyped(f32, f64 body, in ...*G.Node) (*G.Node, error) {
	args := f64.spec().args
	for i, n := range in {
		if n == nil || n.Graph() == nil || args[i].integer || args[i].anyNumber {
			continue
		}
		if computingType(n.Dtype()) == tensor.Float32 {
			return apply(f32, in...)
		}
		break
	}
	return apply(f64, in...)
}

// apply checks the arguments and adds the op to the graph. If the kernels that the environment asks for are missing, it
// returns an error.
func apply(b body, in ...*G.Node) (*G.Node, error) {
	if err := simd.Err(); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	s := b.spec()
	name, args := s.name, s.args
	in, err := widenOthers(args, in)
	if err != nil {
		return nil, err
	}
	if err := checkArgs(name, args, in); err != nil {
		return nil, err
	}
	shapes := make([]tensor.Shape, len(in))
	o := op{body: b, has: s}
	var given G.Nodes
	var dt tensor.Dtype
	for i, n := range in {
		if n == nil {
			continue // an optional one
		}
		given, o.at, o.types = append(given, n), append(o.at, i), append(o.types, n.Type())
		shapes[i] = append(tensor.Shape{}, n.Shape()...)
		if !args[i].integer && !args[i].anyNumber {
			dt = computingType(n.Dtype())
		}
		if err := checkNotEmpty(name, args[i].name, shapes[i]); err != nil {
			return nil, err
		}
	}
	if s.integers {
		dt = tensor.Int
	}
	if err := s.precision.check(name+": ", dt); err != nil {
		return nil, err
	}
	out, err := b.shape(shapes)
	if err != nil {
		return nil, err
	}
	if err := checkResult(name, out); err != nil {
		return nil, err
	}
	o.types, o.out, o.dt = append(o.types, valueType(dt, out.Dims())), out, dt
	if s.room != nil {
		o.room = s.room(shapes)
	}
	return G.ApplyOp(o, given...)
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
	has   spec
	at    []int     // numbers of the arguments that are inputs: optional ones may be missing
	types []hm.Type // types and shapes of the inputs, then of the output
	out   tensor.Shape
	dt    tensor.Dtype
	room  int
}

var (
	_ G.SDOp            = op{}
	_ G.UsePreallocDoer = op{}
)

func (o op) Arity() int           { return len(o.at) }
func (o op) ReturnsPtr() bool     { return true }
func (o op) CallsExtern() bool    { return false }
func (o op) OverwritesInput() int { return -1 }
func (o op) Type() hm.Type        { return hm.NewFnType(o.types...) }

// WriteHash writes every setting, because Gorgonia merges nodes whose ops have equal hashes.
func (o op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%#v%v", o.body, o.at) }

// String returns the op's name.
func (o op) String() string { return o.has.name }

func (o op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// OverwritesPrealloc reports that UsePreallocDo does not read the memory that it overwrites and returns no view of an
// input.
func (o op) OverwritesPrealloc() bool { return true }

// InPlace returns the inputs whose memory a machine may reuse for the op's result.
func (o op) InPlace() []int { return o.has.inPlace }

// View returns the input whose memory contains the op's result, and the element at which the result begins; −1 for an
// op that computes something.
func (o op) View() (input, from int) {
	v := o.has.view
	switch {
	case v == nil:
		return -1, 0
	case v.input < 0:
		return len(o.at) + v.input, v.from
	}
	return v.input, v.from
}

// Adds reports whether the op supports AddTo.
func (o op) Adds() bool { return o.has.addTo != nil }

// Checkpoint reports whether the op marks a boundary of Checkpoint.
func (o op) Checkpoint() bool { return o.has.checkpoint }

// Room returns how many numbers of the result's type the op needs as workspace. A machine passes a tensor of them as
// one more input; without it, the op allocates its own.
func (o op) Room() int { return o.room }

// FillsInfinity reports whether the infinities in the op's result are intended. A machine that looks for non-finite
// numbers then skips the op.
func (o op) FillsInfinity() bool { return o.has.fillsInfinity }

// Spreads reports whether a NaN or an infinity in an input always gives one in the op's result.
func (o op) Spreads() bool { return o.has.spreads }

func (o op) InferShape(...G.DimSizer) (tensor.Shape, error) { return o.out.Clone(), nil }

func (o op) DiffWRT(int) []bool {
	d := make([]bool, len(o.at))
	for i, at := range o.at {
		a := o.has.args[at]
		d[i] = !a.integer && !a.fixed && !(a.stored && isStored(o.types[i]))
	}
	return d
}

func (o op) SymDiff(in G.Nodes, out, grad *G.Node) (G.Nodes, error) {
	all := make(G.Nodes, len(o.has.args))
	for i, at := range o.at {
		all[at] = in[i]
	}
	d, err := o.backward(all, out, grad)
	if err == errNoSecond || err == errNoGradient || err == errCached {
		return nil, fmt.Errorf("graph: %v: %w", o, err)
	}
	if err != nil {
		return nil, err
	}
	given := make(G.Nodes, len(in))
	for i, at := range o.at {
		if at < len(d) {
			given[i] = d[at]
		}
	}
	return given, nil
}

func (o op) Do(in ...G.Value) (G.Value, error) {
	if o.out.IsScalar() {
		return o.UsePreallocDo(nil, in...)
	}
	return o.UsePreallocDo(tensor.New(tensor.Of(o.dt), tensor.WithShape(o.out...)), in...)
}

// UsePreallocDo computes into out's memory, which may hold anything. A scalar result is a new value: the tape machine's
// scalar may be the value of another node.
func (o op) UsePreallocDo(out G.Value, in ...G.Value) (G.Value, error) {
	_, ok := out.(*tensor.Dense)
	switch {
	case !o.out.IsScalar() && !ok:
		out = tensor.New(tensor.Of(o.dt), tensor.WithShape(o.out...))
	case o.out.IsScalar():
		out = dense.NewScalar(o.dt)
	}
	return out, o.ComputeInto(out, in...)
}
