package main

import (
	"fmt"
	"math/rand/v2"

	"attention/graph"
	"attention/graph/gradcheck"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gradcheckCase is one small graph whose gradients are checked.
type gradcheckCase struct {
	group  string                                 // "op" or "layer"
	covers string                                 // what is checked, as package graph or layers exports it
	about  string                                 // the settings
	build  func(g *checkedGraph) (*G.Node, error) // the same graph for either type
	flat   bool                                   // all derivatives are zero
}

func (c gradcheckCase) name() string { return c.covers + ", " + c.about }

// zeros is the case for an op whose derivatives are all zero.
func (c gradcheckCase) zeros() gradcheckCase {
	c.flat = true
	return c
}

// check compares the gradients. Of a graph whose derivatives are zero it would
// prove little, and one that gives nothing but zeros has such.
func (c gradcheckCase) check(dt tensor.Dtype, config gradcheck.Config) (*gradcheck.Report, error) {
	report, err := c.compare(dt, config)
	if err == nil && report.OK() && !c.flat && report.Largest() == 0 {
		return nil, fmt.Errorf("gradcheck: all derivatives are 0, want some that are not")
	}
	return report, err
}

// compare builds the graph and checks it: a float32 graph beside its float64 twin.
func (c gradcheckCase) compare(dt tensor.Dtype, config gradcheck.Config) (*gradcheck.Report, error) {
	wide, wrt64, err := c.graph(tensor.Float64, config.Seed)
	if err != nil {
		return nil, err
	}
	if dt == tensor.Float64 {
		return gradcheck.Check(wide, wrt64, config)
	}
	narrow, wrt32, err := c.graph(tensor.Float32, config.Seed)
	if err != nil {
		return nil, err
	}
	return gradcheck.CheckTwin(narrow, wrt32, wide, wrt64, config)
}

func (c gradcheckCase) graph(dt tensor.Dtype, seed uint64) (out *G.Node, wrt G.Nodes, err error) {
	g := &checkedGraph{dt: dt, graph: G.NewGraph(), random: rand.New(rand.NewPCG(seed, 1))}
	if out, err = c.build(g); err != nil {
		return nil, nil, err
	}
	if g.layer != nil {
		g.wrt = append(g.wrt, g.layer.Learnables()...)
		if key := g.layer.DropoutKey(); key != nil {
			if err := G.Let(key, G.NewI64(dropoutKey)); err != nil {
				return nil, nil, fmt.Errorf("gradcheck: dropout key: %w", err)
			}
		}
	}
	if out = g.between(out, 0.5); g.err != nil {
		return nil, nil, g.err
	}
	return out, g.wrt, nil
}

// dropoutKey is the key of every dropout in the graphs. The masks that it gives
// keep some elements and drop some.
const dropoutKey = 3

// checkedGraph is a graph under construction, with inputs of random values that
// are the same, and exact, in float32 and in float64. What is checked stands
// between other ops, as it does in a model: its inputs and its upstream gradient
// are intermediate values, whose memory a machine plans and lets ops overwrite.
type checkedGraph struct {
	dt     tensor.Dtype
	graph  *G.ExprGraph
	random *rand.Rand
	wrt    G.Nodes        // inputs to differentiate by
	params *layers.Params // of a layer; nil before scope
	layer  *layers.Build  // nil before begin
	err    error          // the first of between
}

// between is an op before or behind what is checked, exact for factors of two.
func (g *checkedGraph) between(n *G.Node, factor float64) *G.Node {
	scaled, err := graph.Scale(n, factor)
	if g.err == nil {
		g.err = err
	}
	return scaled
}

// input is twice an input to differentiate by, of values between −1 and 1.
func (g *checkedGraph) input(name string, shape ...int) *G.Node {
	return g.variable(name, -1, 1, shape)
}

// positive is twice an input to differentiate by, of values between ½ and 3/2.
func (g *checkedGraph) positive(name string, shape ...int) *G.Node {
	return g.variable(name, 0.5, 1.5, shape)
}

func (g *checkedGraph) variable(name string, lo, hi float64, shape tensor.Shape) *G.Node {
	n := g.fixed(name, g.draw(lo, hi, shape.TotalSize()), shape...)
	g.wrt = append(g.wrt, n)
	return g.between(n, 2)
}

func (g *checkedGraph) draw(lo, hi float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(float32(lo + (hi-lo)*g.random.Float64()))
	}
	return values
}

// fixed is an input that no gradient is asked for.
func (g *checkedGraph) fixed(name string, values []float64, shape ...int) *G.Node {
	return G.NewTensor(g.graph, g.dt, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(g.dense(values, shape)))
}

// dense is a tensor of the graph's type.
func (g *checkedGraph) dense(values []float64, shape tensor.Shape) *tensor.Dense {
	if g.dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(narrow))
}

// ids is an input of token numbers or targets.
func (g *checkedGraph) ids(name string, ids []int, shape ...int) *G.Node {
	return G.NewTensor(g.graph, tensor.Int, len(shape), G.WithShape(shape...), G.WithName(name),
		G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(ids))))
}

// key is a dropout key that does not change.
func (g *checkedGraph) key() *G.Node {
	return G.NewScalar(g.graph, tensor.Int64, G.WithName("key"), G.WithValue(G.NewI64(dropoutKey)))
}

// scope is where a layer makes its parameters.
func (g *checkedGraph) scope() layers.Scope {
	g.params = layers.NewParams(g.dt, 0)
	return g.params.Scope("")
}

// begin draws new values for the parameters made so far, since those of the two
// types differ and biases may be zero, and begins a graph over them.
func (g *checkedGraph) begin(mode layers.Mode) (*layers.Build, error) {
	if g.params == nil {
		g.scope() // a layer without parameters
	}
	for name, v := range g.params.All() {
		shape := v.Shape()
		if err := g.params.Set(name, g.dense(g.draw(-0.5, 0.5, shape.TotalSize()), shape)); err != nil {
			return nil, fmt.Errorf("gradcheck: %w", err)
		}
	}
	g.layer = layers.NewBuild(g.params, mode)
	g.graph = g.layer.Graph()
	return g.layer, nil
}
