package gradcheck

import (
	"fmt"
	"math"
	"slices"

	"attention/graph/machine"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// subject is a copy of a graph that is ready to be run forward and backward.
type subject struct {
	copier    *copier
	out       *G.Node
	size      int         // elements of out
	variables []*variable // with respect to which to differentiate
	inputs    G.Nodes     // their nodes; nil if out does not depend on it
	grads     G.Nodes     // their gradients; nil if none reaches it
	upstream  *variable
	forward   *machine.Machine
	backward  *machine.Machine // nil if no gradient reaches any input
}

// newSubject copies the graph of out. Its ops may be of any origin; stock ops panic on
// arguments they do not support.
func newSubject(out *G.Node, wrt G.Nodes, dt tensor.Dtype) (s *subject, err error) {
	defer recovered("copying the graph", &err)
	if err := checkNodes(out, wrt, dt); err != nil {
		return nil, err
	}
	s = &subject{size: out.Shape().TotalSize()}
	own := map[*G.Node]*variable{}
	for i, n := range wrt {
		v, err := newVariable(nameOf(n, i), n)
		if err != nil {
			return nil, err
		}
		own[n] = v
		s.variables = append(s.variables, v)
	}
	if s.copier, err = copyGraph(G.NewGraph(), out, own); err != nil {
		return nil, err
	}
	s.out = s.copier.copies[out]
	for _, n := range wrt {
		s.inputs = append(s.inputs, s.copier.copies[n])
	}
	s.forward, err = machine.New(s.out)
	return s, err
}

func recovered(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("gradcheck: %s: panic: %v", doing, r)
	}
}

// checkNodes returns an error for arguments of a wrong kind.
func checkNodes(out *G.Node, wrt G.Nodes, dt tensor.Dtype) error {
	if out == nil || out.Graph() == nil {
		return fmt.Errorf("gradcheck: out: got nil or a node of no graph, want a node")
	}
	if out.Dtype() != dt {
		return fmt.Errorf("gradcheck: out: got %v, want %v", out.Dtype(), dt)
	}
	if len(wrt) == 0 {
		return fmt.Errorf("gradcheck: wrt: got no node, want at least one input")
	}
	for i, n := range wrt {
		if n == nil {
			return fmt.Errorf("gradcheck: wrt[%d]: got nil, want an input", i)
		}
		wrong := func(got, want string) error {
			return fmt.Errorf("gradcheck: wrt: %s: got %s, want %s", nameOf(n, i), got, want)
		}
		switch {
		case n.Graph() != out.Graph():
			return wrong("a node of another graph", "one of out's")
		case slices.Contains(wrt[:i], n):
			return wrong("it twice", "each input once")
		case n.Op() != nil:
			return wrong("the result of an op", "an input")
		case n.Dtype() != dt:
			return wrong(n.Dtype().String(), dt.String())
		case n.Value() == nil:
			return wrong("no value", "one bound with gorgonia.Let")
		}
	}
	return nil
}

// nameOf returns the name of wrt's i-th node, or its place in wrt if it has none.
func nameOf(n *G.Node, i int) string {
	if expr.HasName(n) {
		return n.Name()
	}
	return fmt.Sprintf("wrt[%d]", i)
}

func newVariable(name string, n *G.Node) (*variable, error) {
	v := &variable{name: name, shape: n.Shape(), write: func(int, float64) {}}
	var err error
	if v.data, err = appendFloats(nil, n.Value()); err != nil {
		return nil, fmt.Errorf("gradcheck: wrt: %s: %w", v.name, err)
	}
	if len(v.data) != v.shape.TotalSize() {
		return nil, fmt.Errorf("gradcheck: wrt: %s: got a value of shape %v, want %v", v.name,
			n.Value().Shape(), v.shape)
	}
	for i, x := range v.data {
		if !finite(x) {
			return nil, fmt.Errorf("gradcheck: wrt: %s: got %v at %v, want finite values", v.name, x,
				multiIndex(i, v.shape))
		}
	}
	return v, nil
}

// differentiate adds the upstream gradient and the backward pass to the copy.
func (s *subject) differentiate() (err error) {
	defer recovered("building the gradient", &err)
	s.upstream = &variable{shape: s.out.Shape(), data: make([]float64, s.size)}
	upstream := s.copier.newInput(s.out)
	if err := s.upstream.bind(upstream); err != nil {
		return fmt.Errorf("gradcheck: upstream gradient: %w", err)
	}
	flows, err := gradientFlows(s.copier)
	if err != nil {
		return err
	}
	var reached G.Nodes
	for _, n := range s.inputs {
		if flows[n] {
			reached = append(reached, n)
		}
	}
	s.grads = make(G.Nodes, len(s.inputs))
	if len(reached) == 0 {
		return nil
	}
	grads, err := G.Backpropagate(G.Nodes{s.out}, G.Nodes{upstream}, reached)
	if err != nil {
		return fmt.Errorf("gradcheck: building the gradient: %w", err)
	}
	for i, n := range s.inputs {
		if at := slices.Index(reached, n); at >= 0 {
			s.grads[i] = grads[at]
		}
	}
	s.backward, err = machine.New(grads...)
	return err
}

// gradientFlows returns the nodes that a gradient from the last one reaches. Gorgonia
// refuses to differentiate with respect to any other.
func gradientFlows(c *copier) (map[*G.Node]bool, error) {
	flows := map[*G.Node]bool{c.order[len(c.order)-1].node: true}
	for _, n := range slices.Backward(c.order) {
		if !flows[n.node] || len(n.children) == 0 {
			continue
		}
		op, ok := n.node.Op().(G.SDOp)
		if !ok {
			return nil, fmt.Errorf("gradcheck: op %v has no symbolic gradient: it is no gorgonia.SDOp", n.node.Op())
		}
		for i, flow := range op.DiffWRT(len(n.children)) {
			if flow {
				flows[n.children[i]] = true
			}
		}
	}
	return flows, nil
}

// run computes out from the variables' current values.
func (s *subject) run(dst []float64) ([]float64, error) {
	if err := s.forward.RunAll(); err != nil {
		return nil, fmt.Errorf("gradcheck: running the graph: %w", err)
	}
	dst, err := appendFloats(dst[:0], s.out.Value())
	if err == nil && len(dst) != s.size {
		err = fmt.Errorf("got shape %v, want %v", s.out.Value().Shape(), s.out.Shape())
	}
	if err != nil {
		return nil, fmt.Errorf("gradcheck: out: %w", err)
	}
	return dst, nil
}

// gradients returns the analytic gradients of all variables for an upstream gradient:
// zeros for a variable that no gradient reaches.
func (s *subject) gradients(upstream []float64) ([]gradient, error) {
	s.upstream.set(upstream)
	if s.backward != nil {
		if err := s.backward.RunAll(); err != nil {
			return nil, fmt.Errorf("gradcheck: running the gradient: %w", err)
		}
	}
	all := make([]gradient, len(s.variables))
	for i, v := range s.variables {
		if s.grads[i] == nil {
			all[i] = gradient{shape: v.shape, data: make([]float64, len(v.data))}
			continue
		}
		value := s.grads[i].Value()
		data, err := appendFloats(nil, value)
		if err != nil {
			return nil, fmt.Errorf("gradcheck: gradient of %s: %w", v.name, err)
		}
		all[i] = gradient{shape: value.Shape().Clone(), data: data}
	}
	return all, nil
}

// gradient is a gradient that a run computed.
type gradient struct {
	shape tensor.Shape
	data  []float64
}

// fits reports whether the gradient has the variable's shape. A single number may have
// any shape.
func (g gradient) fits(v *variable) bool {
	return slices.Equal(g.shape, v.shape) || len(v.data) == 1 && len(g.data) == 1
}

// firstDifference returns the first index where the bits of a and b differ. Both have
// the same length.
func firstDifference(a, b []float64) (int, bool) {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return i, true
		}
	}
	return 0, false
}
