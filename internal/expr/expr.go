// Package expr makes it possible to write a formula of many steps that can fail with one step per line. Every graph
// function returns a node and an error; a Formula keeps the first error, so that the code reads like the formula and
// checks once. Building makes sure that only one goroutine at a time builds.
package expr

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Formula keeps the first error of its steps. The zero value is ready for use.
type Formula struct{ err error }

// Of returns the node of one step, as in f.Of(graph.Softmax(scores)). After the first error
// it returns a scalar of another graph, since Gorgonia panics on nil; the results and errors
// of the remaining steps are dropped.
func (f *Formula) Of(n *G.Node, err error) *G.Node {
	if f.err == nil {
		f.err = err
	}
	if f.err != nil {
		return G.NewScalar(G.NewGraph(), tensor.Float64, G.WithName("placeholder"))
	}
	return n
}

// Of2 is Of for a step with two results.
func (f *Formula) Of2(n, m *G.Node, err error) (*G.Node, *G.Node) {
	return f.Of(n, err), f.Of(m, err)
}

// Result returns the formula's last node, or nil and the first error.
func (f *Formula) Result(n *G.Node) (*G.Node, error) {
	if f.err != nil {
		return nil, f.err
	}
	return n, nil
}

// Result2 is Result for a formula with two results.
func (f *Formula) Result2(n, m *G.Node) (*G.Node, *G.Node, error) {
	if f.err != nil {
		return nil, nil, f.err
	}
	return n, m, nil
}

// Err returns the first error.
func (f *Formula) Err() error { return f.err }
