package graph

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Observation holds a copy of the value of a node inside a graph. On Gorgonia's tape
// machine a later op may have overwritten an intermediate node's own Value by the end of
// the run (gorgonia#576).
type Observation struct {
	node  *G.Node
	value *tensor.Dense
}

// Observe returns an observation of n. Its Node must be among the nodes that a machine
// is asked for, or nothing is copied.
func Observe(n *G.Node) (*Observation, error) {
	o := new(Observation)
	var err error
	if o.node, err = apply(observe{to: o}, n); err != nil {
		return nil, err
	}
	return o, nil
}

// Node returns the node to ask a machine for.
func (o *Observation) Node() *G.Node { return o.node }

// Value returns a copy of the observed node's value in the last run, nil before the
// first. The next run overwrites it in place.
func (o *Observation) Value() *tensor.Dense { return o.value }

// observe returns x and keeps a copy. Its pointer makes every observation another op.
type observe struct {
	sameShape
	intoFirst
	to *Observation
}

func (o observe) spec() (string, []arg) { return "Observe", named("x") }

func (o observe) forward(out *tensor.Dense, in []*tensor.Dense) error {
	if err := tensor.Copy(out, in[0]); err != nil {
		return fmt.Errorf("graph: Observe: %w", err)
	}
	if o.to.value == nil {
		o.to.value = out.Clone().(*tensor.Dense)
		return nil
	}
	return tensor.Copy(o.to.value, out)
}

// y = x:  dx = dy.
func (o observe) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) { return G.Nodes{dy}, nil }
