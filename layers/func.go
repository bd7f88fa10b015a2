package layers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/shapes"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Formula builds nodes from input nodes in the graph of a build, which keeps the formula's first error. in has a node
// for each value of a call, of the value's type and shape. A formula is called once for each combination of types and
// shapes. Two formulas of a process never run at the same time: a Func or a step that a formula calls returns an error.
type Formula func(b *Build, in Inputs) []*G.Node

// Nodes returns the node of one step of a formula as the formula's result. It corresponds to Of for
//
//	return b.Nodes(attention.Forward(b, in["x"]))
func (b *Build) Nodes(n *G.Node, err error) []*G.Node { return []*G.Node{b.Of(n, err)} }

// Func computes a formula over tensors of any shape.
//
//	f, err := layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
//		return b.Nodes(attention.Forward(b, in["x"]))
//	}, layers.FuncConfig{})
//	y, err := f.Call(ctx, layers.Values{"x": x}) // (B, T, E) for any B and T
//
// The first call with a combination of names, types and shapes calls the formula and plans an Eval graph and its
// machine; later calls with that combination run the machine. A Func keeps the FuncConfig.Graphs most recently used
// graphs. All of them compute in the same memory: as much as the largest needs, and at most a sixteenth more, for the
// lifetime of the Func. It also keeps the values of the last call. If a formula fails, nothing is kept. Errors name the
// types and shapes of the call.
//
// Parameters are shared by all graphs and belong to none: a call uses their values at that time. When a parameter was
// replaced or frozen, or got an adapter (Params.Keep, Widen, Freeze, Unfreeze, AddLoRA), the graphs are dropped and
// built again.
//
// Only one goroutine at a time may call a Func; concurrent calls return an error. Clone returns a Func for another
// goroutine. For training use package train.
type Func struct {
	params  *Params
	formula Formula
	config  FuncConfig
	running sync.Mutex
	version int // parameters over which the graphs were built
	graphs  shapes.Cache[*funcGraph]
	last    *funcGraph // graph of the last call, or nil
	arena   machine.Arena
}

// FuncConfig sets what a Func keeps.
type FuncConfig struct {
	Graphs  int      `json:"graphs"`            // the largest number that is kept; 0 means 8
	Buckets []Bucket `json:"buckets,omitempty"` // axes that are padded; none by default
}

// funcGraph is the graph of one combination of types and shapes.
type funcGraph struct {
	names   []string // of the values
	inputs  []*G.Node
	out     []*G.Node
	machine *machine.Machine
}

// NewFunc returns the function that a formula computes over the parameters p. It builds nothing yet.
func NewFunc(p *Params, formula Formula, c FuncConfig) (*Func, error) {
	if p == nil || p.random == nil || formula == nil {
		return nil, errors.New("layers: func: got no parameters or no formula, want both")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("layers: func: %w", err)
	}
	if c.Graphs == 0 {
		c.Graphs = 8
	}
	return &Func{params: p, formula: formula, config: c, version: p.version}, nil
}

// Clone returns the same function with its own graphs and memory, for another goroutine.
func (f *Func) Clone() *Func {
	return &Func{params: f.params, formula: f.formula, config: f.config, version: f.params.version}
}

// Bytes returns the size of the memory in which the graphs compute.
func (f *Func) Bytes() int { return f.arena.Bytes() }

// Call returns the values of the formula's nodes, each with memory of its own. If ctx is done, it stops between two ops
// and returns the context's error.
func (f *Func) Call(ctx context.Context, v Values) ([]*tensor.Dense, error) {
	return f.CallInto(ctx, nil, v)
}

// CallInto is Call with memory for the results: it writes each result into the tensor of out with the same index if
// type and shape fit, and returns the tensors. A loop that passes them to the next call allocates nothing for shapes
// that were called before.
func (f *Func) CallInto(ctx context.Context, out []*tensor.Dense, v Values) ([]*tensor.Dense, error) {
	err := f.padded(v, func(padded Values, lengths []int) (err error) {
		out, err = f.call(ctx, out, padded, lengths)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Prepare builds the graph for values like v, as the first call with them does, and returns the shapes of its results.
func (f *Func) Prepare(v Values) (all []tensor.Shape, err error) {
	err = f.padded(v, func(padded Values, lengths []int) error {
		g, err := f.graph(padded)
		if err != nil {
			return err
		}
		for i, n := range g.out {
			shape, err := f.config.cut(i, n.Shape(), lengths)
			if err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
			all = append(all, shape.Clone())
		}
		return nil
	})
	return all, err
}

// FindNotFinite returns the first node of the last call with a NaN or an infinity; nil if there is none. See
// machine.Machine.FindNotFinite.
func (f *Func) FindNotFinite() (*G.Node, error) {
	if f.last == nil {
		return nil, nil
	}
	return f.last.machine.FindNotFinite()
}

// padded calls one function at a time, with padded values and the buckets' real lengths.
func (f *Func) padded(v Values, call func(padded Values, lengths []int) error) error {
	if !f.running.TryLock() {
		return errors.New("layers: func: got a call while another one runs, want one at a time, or a Clone")
	}
	defer f.running.Unlock()
	padded, lengths, err := f.config.pad(v)
	if err == nil {
		err = call(padded, lengths)
	}
	if err != nil {
		return fmt.Errorf("layers: func of %s: %w", shapes.Text(v), err)
	}
	return nil
}

// call is CallInto of padded values; lengths are the real lengths of the buckets.
func (f *Func) call(ctx context.Context, out []*tensor.Dense, v Values, lengths []int) ([]*tensor.Dense, error) {
	g, err := f.graph(v)
	if err != nil {
		return nil, err
	}
	if f.last != nil && f.last != g {
		f.last.machine.Forget(f.last.inputs...)
	}
	f.last = g
	for i, name := range g.names {
		if n := g.inputs[i]; n.Value() != v[name] { // Let copies shapes
			if err := G.Let(n, v[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if err := g.machine.Run(ctx); err != nil {
		return nil, err
	}
	if len(out) != len(g.out) {
		out = make([]*tensor.Dense, len(g.out))
	}
	for i, n := range g.out {
		value := n.Value()
		shape, err := f.config.cut(i, value.Shape(), lengths)
		if err == nil {
			out[i], err = copyInto(out[i], value, shape)
		}
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
	}
	return out, nil
}

// graph returns the graph for values.
func (f *Func) graph(v Values) (*funcGraph, error) {
	if f.version != f.params.version {
		f.version, f.graphs, f.last, f.arena = f.params.version, shapes.Cache[*funcGraph]{}, nil, machine.Arena{}
	}
	if g, ok := f.graphs.Get(v); ok {
		return g, nil
	}
	g := &funcGraph{names: slices.Sorted(maps.Keys(v))}
	if err := expr.Building(func() error { return f.build(g, v) }); err != nil {
		return nil, err
	}
	if old, ok := f.graphs.Add(v, g, f.config.Graphs); ok {
		_ = old.machine.Close() // which cannot fail
	}
	return g, nil
}

// build builds the graph for values and plans its machine.
func (f *Func) build(g *funcGraph, v Values) (err error) {
	b := NewBuild(f.params, Eval)
	in := b.InputsOf(v)
	for _, name := range g.names {
		g.inputs = append(g.inputs, in[name])
	}
	if b.Err() == nil {
		g.out = f.formula(b, in)
	}
	if err := b.Err(); err != nil {
		return err
	}
	for i, n := range g.out {
		if n == nil || n.Graph() != b.graph {
			return fmt.Errorf("output %d: got nil or a node of another graph, want one of the build's", i)
		}
	}
	g.machine, err = f.arena.New(g.out...)
	return err
}

// copyInto returns a copy of the corner of a value with the given shape, in to if its memory fits.
func copyInto(to *tensor.Dense, v G.Value, shape tensor.Shape) (*tensor.Dense, error) {
	if !dense.IsTensor(to) || to.Dtype() != v.Dtype() || !to.Shape().Eq(shape) || !dense.IsRowMajor(to) {
		to = tensor.New(tensor.Of(v.Dtype()), tensor.WithShape(shape...))
	}
	switch x := v.(type) {
	case *G.F32:
		to.Float32s()[0] = float32(*x)
		return to, nil
	case *G.F64:
		to.Float64s()[0] = float64(*x)
		return to, nil
	}
	from, err := dense.RowMajor(v)
	if err == nil {
		dense.CopyCorner(to, from)
	}
	return to, err
}
