package machine_test

import (
	"hash"
	"hash/fnv"

	"attention/graph/machine"

	"github.com/chewxy/hm"
	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stub is a foreign op of one input.
type stub struct {
	name  string
	shape tensor.Shape // of the result
	of    tensor.Dtype // of the result
	do    func(x G.Value) (G.Value, error)
}

func (s stub) Arity() int                                     { return 1 }
func (s stub) InferShape(...G.DimSizer) (tensor.Shape, error) { return s.shape, nil }
func (s stub) Do(in ...G.Value) (G.Value, error)              { return s.do(in[0]) }
func (s stub) ReturnsPtr() bool                               { return true }
func (s stub) CallsExtern() bool                              { return false }
func (s stub) OverwritesInput() int                           { return -1 }
func (s stub) WriteHash(h hash.Hash)                          { _, _ = h.Write([]byte(s.name)) }
func (s stub) String() string                                 { return s.name }

func (s stub) Type() hm.Type {
	return hm.NewFnType(hm.TypeVariable('a'), G.TensorType{Dims: s.shape.Dims(), Of: s.of})
}

func (s stub) Hashcode() uint32 {
	h := fnv.New32a()
	s.WriteHash(h)
	return h.Sum32()
}

var _ machine.Overwriter = overwriting{}

// overwriting is a stub that computes into planned memory.
type overwriting struct {
	stub
	into func(into, x G.Value) (G.Value, error)
}

func (o overwriting) UsePreallocDo(into G.Value, in ...G.Value) (G.Value, error) {
	return o.into(into, in[0])
}
func (o overwriting) OverwritesPrealloc() bool { return true }
func (o overwriting) View() (input, from int)  { return -1, 0 }
func (o overwriting) InPlace() int             { return -1 }

func apply(t require.TestingT, op G.Op, x *G.Node) *G.Node {
	n, err := G.ApplyOp(op, x)
	require.NoError(t, err)
	return n
}

// firstRow is an op that returns a view of the first row of a matrix.
func firstRow(cols int) stub {
	return stub{"first row", tensor.Shape{cols}, tensor.Float64, func(x G.Value) (G.Value, error) {
		return x.(*tensor.Dense).Slice(G.S(0))
	}}
}
