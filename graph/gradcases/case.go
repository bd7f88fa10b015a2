package gradcases

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"attention/graph"
	"attention/graph/gradcheck"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Case is one op on small inputs.
type Case struct {
	Op     string                            // the function of package graph
	About  string                            // its shapes and settings
	Inputs []Input                           // in the order of the function's arguments
	Apply  func(in G.Nodes) (*G.Node, error) // the function, with its settings, of the nodes of Inputs
	Flat   bool                              // whether all derivatives are zero; otherwise zeros are an error
	Anew   bool                              // whether each Apply makes a different op, because it holds a function
	Reason string                            // why the case is there, if About does not say it
}

// Name returns the name that attention gradcheck prints.
func (c Case) Name() string { return c.Op + ", " + c.About }

// Build builds the graph of the case in one type and returns its output and the nodes to
// differentiate with respect to.
func (c Case) Build(dt tensor.Dtype, r *rand.Rand) (out *G.Node, wrt G.Nodes, err error) {
	in, wrt, err := Nodes(G.NewGraph(), dt, r, c.Inputs)
	if err != nil {
		return nil, nil, err
	}
	out, err = c.Apply(in)
	return out, wrt, err
}

// Check compares the gradients of the case with central differences.
func (c Case) Check(dt tensor.Dtype, config gradcheck.Config) (*gradcheck.Report, error) {
	return Check(c.Build, c.Flat, dt, config)
}

// Builder builds a graph in one type, with values drawn from r, and returns its output and
// the nodes to differentiate with respect to.
type Builder func(dt tensor.Dtype, r *rand.Rand) (out *G.Node, wrt G.Nodes, err error)

// Check compares the gradients of a graph with central differences: those of a float32
// graph with the differences of its float64 twin. All-zero derivatives prove nothing,
// so they are an error unless flat expects them.
func Check(build Builder, flat bool, dt tensor.Dtype, c gradcheck.Config) (*gradcheck.Report, error) {
	report, err := compare(build, dt, c)
	if err == nil && report.OK() && !flat && report.Largest() == 0 {
		return nil, errors.New("gradcheck: all derivatives are 0, want some that are not")
	}
	return report, err
}

// CheckAll returns the errors of the gradients of cases, of ops or of layers, in float64 or in float32. It also returns
// errors of the cases themselves: each case must have its own name, and the output must depend on every input.
func CheckAll[C interface {
	Name() string
	Check(dt tensor.Dtype, c gradcheck.Config) (*gradcheck.Report, error)
}](cases []C) error {
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.Name()] {
			return fmt.Errorf("gradcases: %s: got it twice, want a name for each", c.Name())
		}
		seen[c.Name()] = true
		for _, dt := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			report, err := c.Check(dt, gradcheck.Config{Seed: 1})
			if err != nil {
				return fmt.Errorf("gradcases: %s (%v): %w", c.Name(), dt, err)
			}
			if err := wrongIn(report); err != nil {
				return fmt.Errorf("gradcases: %s (%v): %w", c.Name(), dt, err)
			}
		}
	}
	return nil
}

func wrongIn(r *gradcheck.Report) error {
	if err := r.Err(); err != nil {
		return err
	}
	for _, in := range r.Inputs {
		if in.Unused {
			return fmt.Errorf("input %s: got one that has no part in the output", in.Name)
		}
	}
	return nil
}

func compare(build Builder, dt tensor.Dtype, c gradcheck.Config) (*gradcheck.Report, error) {
	wide, wrt64, err := build.halved(tensor.Float64, c.Seed)
	if err != nil {
		return nil, err
	}
	if dt == tensor.Float64 {
		return gradcheck.Check(wide, wrt64, c)
	}
	narrow, wrt32, err := build.halved(tensor.Float32, c.Seed)
	if err != nil {
		return nil, err
	}
	return gradcheck.CheckTwin(narrow, wrt32, wide, wrt64, c)
}

// halved builds the graph and halves its output, so that the upstream gradient of the
// op is an intermediate value, as in a model: the machine plans its memory and lets
// ops overwrite it.
func (build Builder) halved(dt tensor.Dtype, seed uint64) (*G.Node, G.Nodes, error) {
	out, wrt, err := build(dt, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		return nil, nil, err
	}
	out, err = graph.Scale(out, 0.5)
	return out, wrt, err
}
