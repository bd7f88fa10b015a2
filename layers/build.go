package layers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Mode is the purpose of a graph.
type Mode int

const (
	Eval  Mode = iota // no dropout op at all
	Train             // dropout where a layer has it
)

func (m Mode) String() string {
	if m == Train {
		return "train"
	}
	return "eval"
}

// Build is one graph under construction over a set of parameters.
type Build struct {
	params     *Params
	mode       Mode
	graph      *G.ExprGraph
	nodes      map[string]*G.Node // parameters and inputs, by name
	learnables G.Nodes
	inputs     Inputs
	dropoutKey *G.Node
	sites      int      // number of dropouts so far
	changes    []change // of attentions
	calls      []*AttentionCall
	linear     []*LinearCall
	stages     []Stage
	checkpoint bool // whether the ends of blocks are marked
	onCached   func(x *G.Node) (*G.Node, error)
	precision  graph.Precision
	steps      expr.Formula
}

// NewBuild returns a Build with an empty graph over the parameters. A Build has one shape: another batch size or length
// needs another Build over the same parameters, or a Func, which makes the builds. All graphs share some state of
// Gorgonia: build graphs, and call gorgonia.Grad, in one goroutine at a time. Machines may run concurrently.
func NewBuild(p *Params, m Mode) *Build {
	b := &Build{params: p, mode: m, graph: G.NewGraph(), nodes: map[string]*G.Node{}, inputs: Inputs{}}
	if p == nil || p.random == nil {
		b.params = NewParams(tensor.Float32, 0)
		b.Of(nil, errors.New("layers: build: got nil for the parameters, want Params"))
	}
	return b
}

// usable returns the build. If NewBuild did not make the build, or if the build has failed, so that its nodes may be
// placeholders, usable returns an error and a separate build whose graph is discarded.
func usable(b *Build) (*Build, error) {
	err := errors.New("layers: build: got nil or its zero value, want one of NewBuild")
	if b != nil && b.graph != nil {
		err = b.Err()
	}
	if err != nil {
		b = NewBuild(nil, Eval)
	}
	return b, err
}

// Of returns the node of one step of a formula and keeps its error, as in b.Of(graph.Softmax(scores)); a step is a call
// of a layer, of package graph or of Gorgonia. Check b.Err once, at the end. After the first error Of returns a scalar
// in place of missing nodes, never nil, because Gorgonia's functions panic on nil.
func (b *Build) Of(n *G.Node, err error) *G.Node {
	if n == nil && err == nil {
		err = errors.New("layers: build: got nil for a node and no error, want one of them")
	}
	return b.steps.Of(n, err)
}

// Of2 is Of for a step with two results.
func (b *Build) Of2(n, m *G.Node, err error) (*G.Node, *G.Node) { return b.Of(n, err), b.Of(m, err) }

// Err returns the build's first error: of an input or of a step passed to Of.
func (b *Build) Err() error { return b.steps.Err() }

// Graph returns the graph so far.
func (b *Build) Graph() *G.ExprGraph { return b.graph }

// Mode returns the purpose of the graph.
func (b *Build) Mode() Mode { return b.mode }

// Params returns the parameters over which the graph is built.
func (b *Build) Params() *Params { return b.params }

// Node returns the parameter's node in this graph, bound to the shared tensor; the same
// parameter gives the same node. A parameter of another set is an error of the build.
func (b *Build) Node(p Param) *G.Node { return b.Of(b.node(p)) }

func (b *Build) node(p Param) (*G.Node, error) {
	v := p.Value()
	if p.params != b.params || v == nil {
		return nil, errorf(p.name, "got a parameter of another set, want one of the build's own Params")
	}
	if n, ok := b.nodes[p.name]; ok {
		return n, nil
	}
	if b.mode == Train && dense.IsStored(v.Dtype()) && !b.params.Frozen(p.name) {
		return nil, errorf(p.name, "got a parameter stored in %s to train, want it frozen, or widened by Params.Widen",
			dense.TypeName(v.Dtype()))
	}
	n := G.NewTensor(b.graph, v.Dtype(), v.Dims(), G.WithShape(v.Shape()...), G.WithName(p.name), G.WithValue(v))
	b.nodes[p.name] = n
	b.learnables = append(b.learnables, n)
	return n, nil
}

// Learnables returns the nodes of the parameters used so far that are not frozen, in order
// of use.
func (b *Build) Learnables() G.Nodes {
	frozen := func(n *G.Node) bool { return b.params.Frozen(n.Name()) }
	return slices.DeleteFunc(slices.Clone(b.learnables), frozen)
}

// Input returns a new input node of the parameters' type; without a shape it is a scalar. A value is bound to it by
// gorgonia.Let or by package train. The name must be new, since Gorgonia merges inputs with equal name and shape.
func (b *Build) Input(name string, shape ...int) *G.Node {
	return b.InputOf(b.Params().Dtype(), name, shape...)
}

// InputOf is Input with another type, for ids, lengths and masks.
func (b *Build) InputOf(dt tensor.Dtype, name string, shape ...int) *G.Node {
	return b.Of(b.input(dt, name, shape))
}

func (b *Build) input(dt tensor.Dtype, name string, shape []int) (*G.Node, error) {
	_, node := b.nodes[name]
	_, param := b.params.Get(name)
	if node || param || name == dropoutKeyName {
		return nil, fmt.Errorf("layers: input %q: the name is taken, want one that no input and no parameter has", name)
	}
	if dt.Type == nil {
		return nil, fmt.Errorf("layers: input %q: got no type, want one", name)
	}
	for _, d := range shape {
		if d < 1 {
			return nil, fmt.Errorf("layers: input %q: shape %v, want every axis at least 1", name, tensor.Shape(shape))
		}
	}
	if !dense.Fits(shape...) {
		const wrong = "layers: input %q: shape %v, want at most %d elements"
		return nil, fmt.Errorf(wrong, name, tensor.Shape(shape), dense.MaxElements)
	}
	n := G.NewTensor(b.graph, dt, len(shape), G.WithShape(shape...), G.WithName(name))
	b.nodes[name], b.inputs[name] = n, n
	return n, nil
}

// Values are the values of a graph's inputs, by the inputs' names.
type Values map[string]*tensor.Dense

// Inputs are the input nodes of a graph, by name.
type Inputs map[string]*G.Node

// Inputs returns the graph's inputs by name.
func (b *Build) Inputs() map[string]*G.Node { return b.inputs }

// InputsOf returns the graph's inputs by name, after adding one for each value, with the value's type and shape. A
// value without axes is a scalar.
func (b *Build) InputsOf(v Values) Inputs {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !dense.IsTensor(v[name]) {
			b.Of(nil, fmt.Errorf("layers: input %q: got no tensor, want one", name))
			continue
		}
		b.InputOf(v[name].Dtype(), name, v[name].Shape()...)
	}
	return b.inputs
}

// Drop returns the config of a dropout with probability p. Each dropout has its own random mask. In an Eval graph it
// drops nothing.
func (b *Build) Drop(p float64) graph.DropoutConfig {
	if b.mode != Train || p == 0 {
		return graph.DropoutConfig{}
	}
	if b.dropoutKey == nil {
		b.dropoutKey = G.NewScalar(b.graph, tensor.Int64, G.WithName(dropoutKeyName))
	}
	b.sites++
	return graph.DropoutConfig{P: p, Key: b.dropoutKey, Site: b.sites}
}

const dropoutKeyName = "dropout.key"

// DropoutKey returns the int64 scalar input from which every dropout of the graph draws its mask; nil if the graph has
// no dropout. Each step sets it to a new value.
func (b *Build) DropoutKey() *G.Node { return b.dropoutKey }

// SetPrecision sets the precision of products in layers that are called afterwards: of their Linear maps, of attention,
// of the output layer of a GPT, and of the gradients of all these. Weights and everything else stay float32; README.md
// has a table. BFloat16 is an error of the build if the parameters are float64, or if the processor gains too little
// from it; see graph.Precision.Check.
func (b *Build) SetPrecision(p graph.Precision) {
	if err := p.Check(b.params.Dtype()); err != nil {
		b.Of(nil, err)
		return
	}
	b.precision = p
}

// Precision returns the precision for layers that are called next.
func (b *Build) Precision() graph.Precision { return b.precision }

// CheckpointBlocks makes training take less memory and more time: each Block and DecoderBlock built afterwards keeps
// only its input and output for the backward pass, which computes everything between them again, with the same bits
// (torch.utils.checkpoint, transformers' gradient_checkpointing). It has an effect only in Train graphs on package
// machine; see graph.Checkpoint.
func (b *Build) CheckpointBlocks() { b.checkpoint = true }

// checkpoint marks the end of a block, if CheckpointBlocks was called.
func (f *formula) checkpoint(x *G.Node) *G.Node {
	if !f.b.checkpoint || f.b.mode != Train {
		return x
	}
	return f.Of(graph.Checkpoint(x))
}
