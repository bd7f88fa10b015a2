package machine

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gradient is a node and the input whose gradient it is.
type gradient struct{ node, of *G.Node }

// gradientsOf returns the nodes that are gradients of inputs. Grad marks such nodes.
func gradientsOf(nodes G.Nodes) (all []gradient) {
	for _, n := range nodes {
		for _, x := range n.DerivOf() {
			if x.Op() == nil {
				all = append(all, gradient{n, x})
			}
		}
	}
	return all
}

// showGradients makes Grad of an input return the value of its gradient's node: another machine may have stored a
// gradient at the input, which would take precedence.
func (m *Machine) showGradients() {
	for _, g := range m.gradients {
		if d, err := g.of.Grad(); err == nil && d != g.node.Value() {
			bind(g.of, g.of.Value())
		}
	}
}

// copyGradient gives an input a copy of its gradient. A solver clears the gradient that Grad returns.
func (f *graphNodes) copyGradient(x *G.Node, d G.Value) (err error) {
	if f.grads[x] == nil {
		f.grads[x], err = cloned(d, x)
	} else {
		_, err = G.Copy(f.grads[x], d)
	}
	if err != nil {
		return err
	}
	bindGradient(x, f.grads[x])
	return nil
}

// cloned returns a copy of a gradient that uses the engine of the input's value.
func cloned(d G.Value, x *G.Node) (G.Value, error) {
	c, err := G.CloneValue(d)
	to, ok := c.(*tensor.Dense)
	from, too := x.Value().(*tensor.Dense)
	if ok && too {
		tensor.WithEngine(from.Engine())(to)
	}
	return c, err
}
