package graph

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// maskAxes are the axes of scores that a mask, a bias or sinks belong to.
type maskAxes struct {
	Batch   tensor.Shape // axes before the heads'
	Heads   bool         // whether the heads have an axis
	H, T, S int
}

// scoreAxes takes apart the shape of scores (…, T, S), of which the third axis from the
// end is the heads' if heads is set.
func scoreAxes(scores tensor.Shape, heads bool) maskAxes {
	n := len(scores)
	a := maskAxes{Heads: heads, H: 1, T: scores[n-2], S: scores[n-1]}
	lead := n - 2
	if heads {
		lead--
		a.H = scores[lead]
	}
	a.Batch = slices.Clone(scores[:lead])
	return a
}

// shape is that of the scores.
func (a maskAxes) shape() tensor.Shape {
	s := slices.Clone(a.Batch)
	if a.Heads {
		s = append(s, a.H)
	}
	return append(s, a.T, a.S)
}

// b is the number of batches, the product of their axes.
func (a maskAxes) b() int {
	n := 1
	for _, d := range a.Batch {
		n *= d
	}
	return n
}

// maskCompiler turns a mask into a rule and collects the nodes that the rule reads.
type maskCompiler struct {
	op    string
	axes  maskAxes
	cache *KVCache // of a cached attention: positions of queries are known only when the graph runs
	args  []arg
	nodes G.Nodes
}

// input adds a node of a wanted shape and returns the number the rule knows it by.
func (c *maskCompiler) input(a arg, n *G.Node, want tensor.Shape, letters string) (int, error) {
	if err := checkArgs(c.op, []arg{a}, G.Nodes{n}); err != nil {
		return 0, err
	}
	if !slices.Equal(n.Shape(), want) {
		return 0, &ShapeError{c.op, a.name, n.Shape(), fmt.Sprintf("%s = %v", letters, want)}
	}
	c.args, c.nodes = append(c.args, a), append(c.nodes, n)
	return len(c.nodes) - 1, nil
}

func (c *maskCompiler) fail(format string, args ...any) error {
	return fmt.Errorf("graph: %s: mask: %s", c.op, fmt.Sprintf(format, args...))
}

// whole compiles a mask from its root. nil is All.
func (c *maskCompiler) whole(m Mask) (rule, error) {
	if err := ValidateMask(m); err != nil {
		return nil, c.fail("%v", err)
	}
	if m == nil {
		m = All{}
	}
	return m.compile(c)
}

func (c *maskCompiler) checkAlign(a Alignment) error {
	if c.cache != nil {
		return nil
	}
	if _, err := a.Offset(c.axes.T, c.axes.S); err != nil {
		return c.fail("%v", err)
	}
	return nil
}

// checkKeys refuses a mask with a number for each key where keys have no end.
func (c *maskCompiler) checkKeys(name string) error {
	if c.cache != nil && c.cache.config.Rolling {
		return c.fail("got %s with a number for each key, want none with a rolling cache", name)
	}
	return nil
}

func (All) compile(*maskCompiler) (rule, error) { return everything{}, nil }

func (m Causal) compile(c *maskCompiler) (rule, error) {
	return band{Left: unlimited, Align: m.Align}, c.checkAlign(m.Align)
}

func (m SlidingWindow) compile(c *maskCompiler) (rule, error) {
	return band{Left: min(m.Left, unlimited), Right: min(m.Right, unlimited), Align: m.Align}, c.checkAlign(m.Align)
}

func (m Prefix) compile(*maskCompiler) (rule, error) { return prefix{m.N}, nil }

func (m KeyLengths) compile(c *maskCompiler) (rule, error) {
	i, err := c.input(arg{name: "lengths", integer: true}, m.Lengths, c.axes.Batch, "(B)")
	return lengths{i}, err
}

func (m Segments) compile(c *maskCompiler) (rule, error) {
	if err := c.checkKeys("segments"); err != nil {
		return nil, err
	}
	key := m.Key
	if key == nil {
		key = m.Query
	}
	q, err := c.input(arg{name: "segments", integer: true}, m.Query, append(slices.Clone(c.axes.Batch), c.axes.T), "(B, T)")
	if err != nil {
		return nil, err
	}
	k, err := c.input(arg{name: "key_segments", integer: true}, key, append(slices.Clone(c.axes.Batch), c.axes.S), "(B, S)")
	return segments{q, k}, err
}

func (m Keep) compile(c *maskCompiler) (rule, error) {
	a := arg{name: "keep", fixed: true, anyNumber: true}
	if err := checkArgs(c.op, []arg{a}, G.Nodes{m.Keep}); err != nil {
		return nil, err
	}
	at, err := broadcastLayout(c.op, "keep", m.Keep.Shape(), c.axes)
	if err != nil {
		return nil, err
	}
	if at.Key > 0 {
		if err := c.checkKeys("keep"); err != nil {
			return nil, err
		}
	}
	i, err := c.input(a, m.Keep, m.Keep.Shape(), "")
	return keep{i, at}, err
}

func (m either) compile(c *maskCompiler) (rule, error) {
	a, err := m.A.compile(c)
	if err != nil {
		return nil, err
	}
	b, err := m.B.compile(c)
	return pair{a, b, m.Or}, err
}

func (m not) compile(c *maskCompiler) (rule, error) {
	of, err := m.Of.compile(c)
	return inverse{of}, err
}
