package graph

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Mask says which keys each query sees. Masks are made of Causal, SlidingWindow,
// Prefix, KeyLengths, Segments and Keep, joined by And, Or and Not; All hides nothing.
// A query that sees no key gets weights 0, output 0 and gradients 0.
//
// Masks that are rules take no memory of size (T, S).
type Mask interface {
	compile(c *maskCompiler) (rule, error)
	// validate checks what is known before there is a graph.
	validate() error
}

// ValidateMask says what is wrong with a mask whatever the sequences are: negative
// lengths, an alignment that there is not, nil within And, Or and Not. A nil mask is All.
func ValidateMask(m Mask) error {
	if m == nil {
		return nil
	}
	return m.validate()
}

func (All) validate() error { return nil }

func (m Causal) validate() error { return m.Align.validate() }

func (m SlidingWindow) validate() error {
	if m.Left < 0 || m.Right < 0 {
		return fmt.Errorf("got a window of %d to the left and %d to the right, want both at least 0", m.Left, m.Right)
	}
	return m.Align.validate()
}

func (m Prefix) validate() error {
	if m.N < 0 {
		return fmt.Errorf("got a prefix of %d keys, want at least 0", m.N)
	}
	return nil
}

// Nodes are checked with the graph that they belong to.

func (KeyLengths) validate() error { return nil }
func (Segments) validate() error   { return nil }
func (Keep) validate() error       { return nil }

func (m either) validate() error {
	if err := (not{m.A}).validate(); err != nil {
		return err
	}
	return not{m.B}.validate()
}

func (m not) validate() error {
	if m.Of == nil {
		return fmt.Errorf("got nil in And, Or or Not, want a mask")
	}
	return m.Of.validate()
}

func (a Alignment) validate() error {
	if a < Square || a > LowerRight {
		return fmt.Errorf("got %v, want one of %v", a, alignmentNames)
	}
	return nil
}

// Alignment says where the queries stand among the keys if there are not as many.
type Alignment int

const (
	Square     Alignment = iota // query t stands at key t, and T = S
	UpperLeft                   // query t stands at key t (torch's is_causal)
	LowerRight                  // the last query stands at the last key, S ≥ T, as when earlier keys are kept
)

var alignmentNames = []string{"square", "upper_left", "lower_right"}

func (a Alignment) String() string {
	if a < Square || a > LowerRight {
		return fmt.Sprintf("alignment %d", int(a))
	}
	return alignmentNames[a]
}

// MarshalText writes square, upper_left or lower_right.
func (a Alignment) MarshalText() ([]byte, error) {
	if a < Square || a > LowerRight {
		return nil, fmt.Errorf("graph: alignment: got %d, want one of %v", int(a), alignmentNames)
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (a *Alignment) UnmarshalText(text []byte) error {
	i := slices.Index(alignmentNames, string(text))
	if i < 0 {
		return fmt.Errorf("graph: alignment: got %q, want one of %v", text, alignmentNames)
	}
	*a = Alignment(i)
	return nil
}

// Offset is the position among S keys of the first of T queries.
func (a Alignment) Offset(T, S int) (int, error) {
	switch {
	case a == UpperLeft, a == Square && T == S:
		return 0, nil
	case a == LowerRight && T <= S:
		return S - T, nil
	case a == Square:
		return 0, fmt.Errorf("got T=%d and S=%d, want T = S or an alignment, upper_left or lower_right", T, S)
	case a == LowerRight:
		return 0, fmt.Errorf("got T=%d and S=%d with lower_right, want S ≥ T", T, S)
	}
	return 0, fmt.Errorf("got %v, want one of %v", a, alignmentNames)
}

// All shows each query every key.
type All struct{}

// Causal shows each query the keys up to its own position.
type Causal struct{ Align Alignment }

// SlidingWindow shows each query the keys from Left before its own position to Right
// after it: together with its own at most Left + 1 + Right.
type SlidingWindow struct {
	Left, Right int // at least 0
	Align       Alignment
}

// Prefix shows every query the first N keys: Or(Causal{}, Prefix{n}) is the mask of a
// prefix language model.
type Prefix struct{ N int }

// KeyLengths shows the queries of batch b the first Lengths[b] keys, int or int64
// (B): what hides padding.
type KeyLengths struct{ Lengths *G.Node }

// Segments shows each query the keys of its own segment, as when several documents lie
// in one sequence: those whose id in Key, int or int64 (B, S), is the query's in Query
// (B, T). A nil Key means Query.
type Segments struct{ Query, Key *G.Node }

// Keep shows each query the keys where Keep is 1 and hides those where it is 0. It may
// be a float or an integer node that broadcasts to (B, H, T, S) as in torch: axes are
// matched from the last, missing ones and those of length 1 are repeated. Other values
// are an error when the graph runs.
type Keep struct{ Keep *G.Node }

// And shows what all masks show.
func And(a, b Mask, more ...Mask) Mask { return join(a, b, more, false) }

// Or shows what any of the masks shows.
func Or(a, b Mask, more ...Mask) Mask { return join(a, b, more, true) }

// Not shows what the mask hides.
func Not(m Mask) Mask { return not{m} }

type either struct {
	A, B Mask
	Or   bool
}

type not struct{ Of Mask }

func join(a, b Mask, more []Mask, or bool) Mask {
	m := either{a, b, or}
	for _, next := range more {
		m = either{m, next, or}
	}
	return m
}

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
