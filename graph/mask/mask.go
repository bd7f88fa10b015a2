package mask

import (
	"encoding/json"
	"errors"
	"fmt"

	"attention/internal/config"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Mask determines which keys each query sees. A query that sees no key gets weights 0,
// output 0 and gradients 0.
//
// In JSON a mask is an object with a type, such as {"type": "prefix", "n": 4}; Decode reads it. A mask that holds a
// node or a function has no JSON.
type Mask interface {
	json.Marshaler
	// validate checks the properties that do not depend on the scores.
	validate() error
	// resolve checks the mask against the scores in.Scores. It returns the mask with the numbers from in in place of
	// nodes, because an op holds no nodes and ops are distinguished by their settings.
	resolve(in *inputs) (Mask, error)
	// bind returns the keys that a resolved mask shows in one run.
	bind(in []*tensor.Dense, s Scores) (KeySet, error)
	// withNodes returns the mask with other nodes in place of its own.
	withNodes(of func(*G.Node) *G.Node) Mask
}

// Validate returns an error for a mask that is wrong for all sequences: negative lengths, an unknown alignment, a Func
// without a function, nil within And, Or and Not, a pointer to a mask. A nil mask is All.
func Validate(m Mask) error {
	if m == nil {
		return nil
	}
	if err := config.NotPointer(m); err != nil {
		return err
	}
	return m.validate()
}

// HoldsNode reports whether a valid mask holds a node. Such a mask belongs to one graph: it is passed with the input of
// a call, never in a config.
func HoldsNode(m Mask) bool {
	_, nodes, _ := Resolve(m, Scores{})
	return len(nodes) > 0
}

// WithNodes returns a mask in which of(n) replaces each node n, for use in another graph. A nil mask is All.
func WithNodes(m Mask, of func(*G.Node) *G.Node) (Mask, error) {
	if m == nil {
		return All{}, nil
	}
	if of == nil {
		return nil, errors.New("got nil, want a function that gives nodes")
	}
	if err := Validate(m); err != nil {
		return nil, err
	}
	return m.withNodes(of), nil
}

// Resolve checks a mask against its scores. It returns the mask with numbers in place of nodes, and the nodes as
// inputs, which the caller must still check. A nil mask is All.
func Resolve(m Mask, s Scores) (Mask, []Input, error) {
	if m == nil {
		return All{}, nil, nil
	}
	if err := Validate(m); err != nil {
		return nil, nil, err
	}
	in := inputs{Scores: s}
	m, err := m.resolve(&in)
	return m, in.list, err
}

// Bind returns the keys that a resolved mask shows in one run. in are the values of its inputs; an error names the
// wrong input.
func Bind(m Mask, in []*tensor.Dense, s Scores) (KeySet, error) {
	if m == nil {
		return KeySet{}, errors.New("got nil, want a mask")
	}
	if err := Validate(m); err != nil {
		return KeySet{}, err
	}
	if err := s.check(); err != nil {
		return KeySet{}, err
	}
	return m.bind(in, s)
}

// check returns an error for axes that no scores can have.
func (s Scores) check() error {
	if batches := s.B(); min(batches, s.T, s.S) < 1 || !dense.Fits(batches, s.T) || s.S > Unlimited {
		return fmt.Errorf("scores: got %+v, want axes of at least 1 and at most %d queries", s, dense.MaxElements)
	}
	return nil
}

// valueOf returns the value of an input, which must be set.
func valueOf(in []*tensor.Dense, input int, name string) (*tensor.Dense, error) {
	if input >= len(in) || in[input] == nil || in[input].Dtype().Type == nil {
		return nil, fmt.Errorf("%s: got no value, want one", name)
	}
	return in[input], nil
}

// integersOf returns an input's rows of n integers.
func integersOf(in []*tensor.Dense, input int, name string, rows, n int) ([]int64, error) {
	x, err := valueOf(in, input, name)
	if err != nil {
		return nil, err
	}
	all := dense.Ints(x)
	if !dense.Fits(rows, n) || len(all) != rows*n {
		return nil, fmt.Errorf("%s: got %v %v, want integers (%d, %d)", name, x.Dtype(), x.Shape(), rows, n)
	}
	return all, nil
}

// An Input is a node that a mask reads, with the requirements on the node.
type Input struct {
	Name       string
	Node       *G.Node // may be nil, which Resolve's caller reports as an error
	Integer    bool    // of type int or int64; otherwise of one of KeepTypes
	Broadcasts bool    // broadcasts to the scores' shape; otherwise the shape must be Shape
	Shape      tensor.Shape
	Letters    string // of Shape
}

// inputs collects the inputs of a mask for some scores.
type inputs struct {
	Scores
	list []Input
}

// add adds an input and returns its number.
func (in *inputs) add(x Input) int {
	in.list = append(in.list, x)
	return len(in.list) - 1
}

// checkAlign returns an error for an alignment that does not fit T and S.
func (in *inputs) checkAlign(a Alignment) error {
	_, err := in.offsets(a)
	return err
}

// checkKeys returns an error for an input with a number for each key if the number of keys is unlimited.
func (in *inputs) checkKeys(name string) error {
	if in.Endless {
		return fmt.Errorf("got %s with a number for each key, want none with a rolling cache", name)
	}
	return nil
}
