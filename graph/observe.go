package graph

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Observation is a window on a node inside a graph. On Gorgonia's tape machine an
// intermediate node's own Value may have been overwritten by a later op when the
// run is over (gorgonia#576); an observation holds a copy of what it was.
type Observation struct {
	node  *G.Node
	value *tensor.Dense
}

// Observe watches n. The observation's Node must be among the nodes that a
// machine is asked for, or nothing is seen.
func Observe(n *G.Node) (*Observation, error) {
	o := new(Observation)
	var err error
	if o.node, err = apply(observe{to: o}, n); err != nil {
		return nil, err
	}
	return o, nil
}

// Node is the node to ask a machine for.
func (o *Observation) Node() *G.Node { return o.node }

// Value is a copy of the watched node's value in the last run, nil before the
// first. The next run overwrites it in place.
func (o *Observation) Value() *tensor.Dense { return o.value }

// observe passes x on and keeps a copy. Its pointer makes every observation an
// op of its own.
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
