// Package stock computes Gorgonia's own ops: on our kernels where there are any, and otherwise in plain loops, always
// into memory that the caller planned and without allocating.
//
// The ops' types are not exported. They are recognised by the names of their types, and their settings are read from
// the text that they print, both as of Gorgonia v0.9.18; a test pins them. An op without a row in the table is left to
// Gorgonia. A row is there because Gorgonia takes at least 1.3 times as long for the op, or because programs become
// more than 5 % slower without it: graph/machine/README.md has the measurements.
package stock

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Op is one of Gorgonia's ops, applied to nodes of known shapes.
type Op struct {
	G.Op
	by      By
	in      G.Nodes // what the op reads
	inPlace []int
	view    int                      // the input whose memory the result is a part of; −1 if the op computes
	from    int                      // the element at which that part begins
	value   G.Value                  // for an op whose value does not depend on its inputs, else nil
	sizes   []int                    // elements of the inputs
	check   func(in []G.Value) error // of the inputs' values, or nil
	sum     bool                     // whether the op adds two values of the result's shape
	one     bool                     // whether a single number is a tensor of shape (1)
	run     func(out G.Value, in []G.Value)
	into    func(result operand, factor float64) bool // for a product: see products
}

// By names the code that computes an op.
type By string

const (
	Kernel   By = "kernel"   // a kernel, in SIMD assembly where the processor has it
	Loop     By = "loop"     // a loop in Go, on all cores
	Nothing  By = "nothing"  // the value is a part of an input's memory, or is known before any run
	Gorgonia By = "gorgonia" // Gorgonia's own code
)

// A call is an op and the nodes it is applied to.
type call struct {
	node *G.Node
	text string // the text that the op prints
	in   G.Nodes
	Graph
}

// A Graph is the graph that the ops belong to.
type Graph interface {
	Inputs(n *G.Node) G.Nodes
	// OnlyOneReads reports whether exactly one node reads another, whose own value is not wanted.
	OnlyOneReads(n *G.Node) bool
}

// A family is the ops of one of Gorgonia's types, applied to float32 or float64. It returns nil for a call that it
// does not compute.
type family struct{ of32, of64 func(call) *Op }

// families lists the families by the names of their types.
var families = map[string]family{
	"gorgonia.constantScalar":     {constant, constant},
	"gorgonia.constantTensor":     {constant, constant},
	"*gorgonia.byIndicesOp":       {lookup[float32], lookup[float64]},
	"*gorgonia.byIndicesOpDiffOp": {lookupBackward[float32], lookupBackward[float64]},
	"*gorgonia.sliceOp":           {slice[float32], slice[float64]},
	"*gorgonia.softmaxDiffOp":     {softmaxBackward[float32], softmaxBackward[float64]},
	"*gorgonia.softmaxOp":         {softmax[float32], softmax[float64]},
	"gorgonia.atOp":               {at[float32], at[float64]},
	"gorgonia.concatOp":           {concat[float32], concat[float64]},
	"gorgonia.linAlgBinOp":        {product[float32], product[float64]},
	"*gorgonia.repeatOp":          {repeat[float32], repeat[float64]},
	"gorgonia.sliceIncrOp":        {sliceBackward[float32], sliceBackward[float64]},
	"gorgonia.tensordotOp":        {tensordot[float32], tensordot[float64]},
	"gorgonia.transposeOp":        {transpose[float32], transpose[float64]},
	"*gorgonia.BatchNormOp":       {batchNorm[float32], batchNorm[float64]},
	"*gorgonia.batchnormDiffOp":   {batchNormGradient[float32], batchNormGradient[float64]},
	"*gorgonia.maxOp":             {maximum[float32], maximum[float64]},
	"*gorgonia.maxPoolDiffOp":     {maxPoolGradient[float32], maxPoolGradient[float64]},
	"*gorgonia.maxPoolOp":         {maxPool[float32], maxPool[float64]},
	"gorgonia.col2imOp":           {columnsToImages[float32], columnsToImages[float64]},
	"gorgonia.im2colOp":           {imagesToColumns[float32], imagesToColumns[float64]},
	"gorgonia.maxBetween":         {larger[float32], larger[float64]},
	"gorgonia.minBetween":         {smaller[float32], smaller[float64]},
	"gorgonia.sumOp":              {sum[float32], sum[float64]},
	"gorgonia.elemBinOp":          {binary[float32], binary[float64]},
	"gorgonia.elemUnaryOp":        {unary[float32], unary[float64]},
	"gorgonia.reshapeOp":          {reshape[float32], reshape[float64]},
	"gorgonia.sizeOp":             {size, size},
}

// Of returns the Op that computes a node with one of Gorgonia's ops, or nil if Gorgonia itself must compute it.
func Of(n *G.Node, g Graph) *Op {
	if n.Op() == nil {
		return nil
	}
	f, ok := families[fmt.Sprintf("%T", n.Op())]
	if !ok {
		return nil
	}
	c := callOf(n, g)
	dt := n.Dtype()
	if len(c.in) > 0 {
		dt = c.in[0].Dtype() // the result of a comparison has another type
	}
	if !dense.IsFloat(dt) {
		return nil
	}
	op := dense.ByType(dt, f.of32, f.of64)(c)
	if op == nil {
		return nil
	}
	op.Op = n.Op()
	if op.in == nil && op.value == nil {
		op.in = c.in
	}
	for _, i := range op.in {
		op.sizes = append(op.sizes, i.Shape().TotalSize())
	}
	return op
}

func callOf(n *G.Node, g Graph) call { return call{n, n.Op().String(), g.Inputs(n), g} }

// runs returns an op that runs a function.
func runs(by By, inPlace []int, run func(out G.Value, in []G.Value)) *Op {
	return &Op{by: by, inPlace: inPlace, view: -1, run: run}
}

// computes returns an op that runs a function of the memory of its result, y, and of its inputs, all of type F.
func computes[F kernel.Float](by By, inPlace []int, run func(y []F, x [][]F)) *Op {
	var x [][]F // made once: a run allocates nothing
	return runs(by, inPlace, func(out G.Value, in []G.Value) {
		x = x[:0]
		for _, v := range in {
			x = append(x, dense.Floats[F](v))
		}
		run(dense.Floats[F](out), x)
		clear(x) // the op keeps no memory between runs
	})
}

// loops returns an op that computes n parts of its result on all cores, at least grain of them in a goroutine. part
// computes those from lo up to hi.
func loops[F kernel.Float](inPlace []int, n, grain int, part func(y []F, x [][]F, lo, hi int)) *Op {
	var y []F
	var x [][]F
	parts := func(lo, hi int) { part(y, x, lo, hi) } // made once: a run allocates nothing
	return computes(Loop, inPlace, func(out []F, in [][]F) {
		y, x = out, in
		parallel.For(n, grain, parts)
		y, x = nil, nil
	})
}

// reading sets the nodes that the op reads, if these are not all of its inputs.
func (o *Op) reading(in ...*G.Node) *Op {
	o.in = in
	return o
}

// By returns the name of the code that computes the op.
func (o *Op) By() By { return o.by }

// Inputs returns the nodes that the op reads. These are the inputs of its node whose values matter, or, if the op does
// not need such an input itself, the nodes from which it is computed.
func (o *Op) Inputs() G.Nodes { return o.in }

// Value returns the value of an op that does not depend on the values of its inputs, else nil.
func (o *Op) Value() G.Value { return o.value }

// IsSum reports whether the op adds two inputs of the result's shape.
func (o *Op) IsSum() bool { return o.sum }

// OverwritesPrealloc reports that UsePreallocDo does not read the memory that it gets.
func (o *Op) OverwritesPrealloc() bool { return true }

// IsOne reports whether the result is a tensor of shape (1) where the node is a number, as Gorgonia's Tensordot over
// all axes is.
func (o *Op) IsOne() bool { return o.one }

// InPlace returns the inputs whose memory the op may compute into.
func (o *Op) InPlace() []int { return o.inPlace }

// View returns the input whose memory contains the result, and the element at which the result begins; −1 for an op
// that computes.
func (o *Op) View() (input, from int) { return o.view, o.from }

// UsePreallocDo computes into out: a tensor of the node's shape in row-major order, or a scalar.
func (o *Op) UsePreallocDo(out G.Value, in ...G.Value) (G.Value, error) {
	for i, v := range in {
		p, err := plain(v)
		if err != nil {
			return nil, fmt.Errorf("%v: input %d: %w", o.Op, i, err)
		}
		if n := p.Shape().TotalSize(); n != o.sizes[i] {
			return nil, fmt.Errorf("%v: input %d: got %d elements, want %d", o.Op, i, n, o.sizes[i])
		}
		in[i] = p
	}
	if o.check != nil {
		if err := o.check(in); err != nil {
			return nil, fmt.Errorf("%v: %w", o.Op, err)
		}
	}
	o.run(out, in)
	return out, nil
}

// plain returns the value with its elements in row-major order: itself, or a copy.
func plain(v G.Value) (G.Value, error) {
	if d, ok := v.(*tensor.Dense); ok {
		return dense.RowMajor(d)
	}
	return v, nil
}

// sameSize reports whether nodes have the same number of elements as the first.
func sameSize(nodes ...*G.Node) bool {
	n := nodes[0].Shape().TotalSize()
	return !slices.ContainsFunc(nodes, func(m *G.Node) bool { return m.Shape().TotalSize() != n })
}

// isFloat reports whether a node holds numbers of type F.
func isFloat[F kernel.Float](n *G.Node) bool { return n.Dtype() == dense.TypeOf[F]() }
