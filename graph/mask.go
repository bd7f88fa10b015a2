package graph

import (
	"fmt"

	G "gorgonia.org/gorgonia"
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
