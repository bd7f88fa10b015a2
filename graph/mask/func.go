package mask

import (
	"fmt"
	"sync/atomic"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Func is a mask that a function defines: it shows a query the keys for which the function returns true. One of the two
// functions is set. Query t and key s are numbered from 0; with a cache t is the position in the whole sequence. Batch
// b is the index in all axes before the heads' axis, taken as one.
//
// The function must be pure: the same arguments give the same result within a run. Several goroutines call it. A panic
// in it becomes the error of the op. VisibleAt is faster: it is called for all batches and heads at once, for each tile
// of queries and keys, and again only for tiles that are shown in part; hidden tiles cost nothing more. Visible is
// called for every batch, head, query and key. In an And, neither is called for tiles that the other mask hides by a
// range, as Causal and SlidingWindow do.
//
// Two attentions with one Func are two ops, because functions cannot be compared; for the same reason a Func has no
// JSON. With a cache, the function may be called for keys up to the capacity. With a rolling cache, the mask must be
// combined with one that hides later keys, such as And(Causal{}, Func{…}).
type Func struct {
	Name      string // in errors
	Visible   func(b, h, t, s int) bool
	VisibleAt func(t, s int) bool // for all batches and heads
}

func (m Func) validate() error {
	switch {
	case m.Visible == nil && m.VisibleAt == nil:
		return fmt.Errorf("got %v without a function, want Visible or VisibleAt", m)
	case m.Visible != nil && m.VisibleAt != nil:
		return fmt.Errorf("got %v with Visible and VisibleAt, want one of the two", m)
	}
	return nil
}

// String returns the mask's type and name.
func (m Func) String() string { return fmt.Sprintf("Func %q", m.Name) }

// funcs counts the Funcs used in ops.
var funcs atomic.Uint64

func (m Func) resolve(*inputs) (Mask, error) { return numberedFunc{m, funcs.Add(1)}, nil }

func (m Func) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	return numberedFunc{Func: m}.bind(in, s)
}

func (m Func) withNodes(func(*G.Node) *G.Node) Mask { return m }

// MarshalJSON fails: the mask is a function.
func (m Func) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("got %v, which has no JSON, want a mask that is no function", m)
}

// numberedFunc is the Func of an op and of the op's gradient; its number makes it different from the Funcs of other
// ops.
type numberedFunc struct {
	Func
	Number uint64
}

// GoString returns the text from which an op's hash is computed.
func (m numberedFunc) GoString() string { return fmt.Sprintf("mask.%v number %d", m.Func, m.Number) }

func (m numberedFunc) resolve(*inputs) (Mask, error) { return m, nil }

func (m numberedFunc) withNodes(func(*G.Node) *G.Node) Mask { return m }

func (m numberedFunc) bind(_ []*tensor.Dense, s Scores) (KeySet, error) {
	first, err := s.offsets(UpperLeft)
	k := KeySet{
		Span: func(int, int) (lo, hi int, all bool) { return 0, s.S, false },
		Fill: func(b, h, t, s0 int, shown []bool) { m.fill(b, h, first[b%len(first)]+t, s0, shown) },
	}
	if m.VisibleAt != nil && s.B()*s.H > len(first) {
		m.classify(&k, s, first)
	}
	return k, err
}

// fill calls the function for keys. It panics with a *funcError if the function panics.
func (m numberedFunc) fill(b, h, t, s0 int, shown []bool) {
	at := 0
	defer func() {
		if r := recover(); r != nil {
			panic(&funcError{m.Func, b, h, t, s0 + at, r})
		}
	}()
	if m.VisibleAt != nil {
		for ; at < len(shown); at++ {
			shown[at] = m.VisibleAt(t, s0+at)
		}
		return
	}
	for ; at < len(shown); at++ {
		shown[at] = m.Visible(b, h, t, s0+at)
	}
}

// funcError is the panic of a Func.
type funcError struct {
	of         Func
	b, h, t, s int
	panic      any
}

// Error names the mask, the arguments and the panic.
func (e *funcError) Error() string {
	question := fmt.Sprintf("query %d and key %d", e.t, e.s)
	if e.of.Visible != nil {
		question = fmt.Sprintf("batch %d, head %d, query %d and key %d", e.b, e.h, e.t, e.s)
	}
	return fmt.Sprintf("mask: %v: got a panic for %s: %v, want true or false", e.of, question, e.panic)
}

// Recovered returns the error of a Func that panicked while the keys of a KeySet were read, given the result of
// recover. It panics again with any other value except nil.
func Recovered(r any) error {
	switch r := r.(type) {
	case nil:
		return nil
	case *funcError:
		return r
	}
	panic(r)
}
