// Package gradcases has small graphs of every layer and model of package layers. The
// tests of package layers and attention gradcheck compare their gradients with central
// differences. A layer is one more row of Cases.
//
// Axes that must not be swapped have different prime lengths.
package gradcases

import (
	"fmt"
	"math/rand/v2"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/gradcheck"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Case is one layer on small inputs.
type Case struct {
	Layer     string                                // the type of package layers
	About     string                                // its inputs' shapes and settings
	Mode      layers.Mode                           // of the graph
	Observed  bool                                  // the same output with statistics of the attention weights
	Precision graph.Precision                       // of products
	New       func(s layers.Scope) (Forward, error) // makes the layer
	Inputs    []gradcases.Input                     // in the order in which Forward takes them
	Reason    string                                // why there is such a case, if About does not say it
}

// Forward is the call of a layer, with the nodes of a case's inputs.
type Forward func(b *layers.Build, in G.Nodes) (*G.Node, error)

// Name returns the name that attention gradcheck prints.
func (c Case) Name() string { return c.Layer + ", " + c.About }

// Check compares the gradients of the case's inputs and of all its parameters with central
// differences.
func (c Case) Check(dt tensor.Dtype, config gradcheck.Config) (*gradcheck.Report, error) {
	return gradcases.Check(c.Build, false, dt, config)
}

// CheckAll returns an error that lists all that is wrong with cases or their gradients.
func CheckAll(cases []Case) error { return gradcases.CheckAll(cases) }

// Build builds the graph of the case in one type and returns the nodes to
// differentiate by.
func (c Case) Build(dt tensor.Dtype, r *rand.Rand) (out *G.Node, wrt G.Nodes, err error) {
	p := layers.NewParams(dt, 0)
	forward, err := c.New(p.Scope(""))
	if err != nil {
		return nil, nil, err
	}
	// New values, since initial ones differ between the types, and biases may be zero.
	for name, v := range p.All() {
		if err := p.Set(name, gradcases.Draw(dt, r, -0.5, 0.5, v.Shape())); err != nil {
			return nil, nil, err
		}
	}
	b := layers.NewBuild(p, c.Mode)
	b.SetPrecision(c.Precision)
	if c.Observed {
		b.Observe("*")
	}
	in, wrt, err := gradcases.Nodes(b.Graph(), dt, r, c.Inputs)
	if err != nil {
		return nil, nil, err
	}
	if out, err = forward(b, in); err != nil {
		return nil, nil, err
	}
	if key := b.DropoutKey(); key != nil {
		if err := G.Let(key, G.NewI64(gradcases.DropoutKey)); err != nil {
			return nil, nil, fmt.Errorf("dropout key: %w", err)
		}
	}
	return out, append(wrt, b.Learnables()...), nil
}

// observed returns the case with statistics.
func (c Case) observed() Case {
	c.About, c.Observed = c.About+", with statistics", true
	return c
}

// made returns the New of a layer made of a config and called by forward.
func made[C, L any](create func(layers.Scope, C) (L, error), c C,
	forward func(l L, b *layers.Build, in G.Nodes) (*G.Node, error)) func(layers.Scope) (Forward, error) {
	return func(s layers.Scope) (Forward, error) {
		l, err := create(s, c)
		return func(b *layers.Build, in G.Nodes) (*G.Node, error) { return forward(l, b, in) }, err
	}
}

// ofX returns the New of a layer of one input.
func ofX[C any, L interface {
	Forward(b *layers.Build, x *G.Node) (*G.Node, error)
}](create func(layers.Scope, C) (L, error), c C) func(layers.Scope) (Forward, error) {
	return made(create, c, func(l L, b *layers.Build, in G.Nodes) (*G.Node, error) { return l.Forward(b, in[0]) })
}

// x returns the inputs of a layer of one input.
func x(shape ...int) []gradcases.Input { return []gradcases.Input{gradcases.Float("x", shape...)} }
