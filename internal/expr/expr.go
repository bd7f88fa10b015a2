// Package expr lets a formula of many fallible steps be written one step a
// line. Every graph function returns a node and an error; a Formula keeps the
// first error, so that the code reads as the formula does and checks once.
package expr

// Formula remembers the first error of the steps it was given. Its zero value
// is ready for use.
type Formula[N any] struct{ err error }

// Of returns the node of one step, as in f.Of(graph.Softmax(scores)). Once a
// step has failed it returns nil; every graph function refuses a nil node with
// an error of its own, so the steps after a failed one do nothing.
func (f *Formula[N]) Of(n *N, err error) *N {
	if f.err == nil {
		f.err = err
	}
	if f.err != nil {
		return nil
	}
	return n
}

// Of2 is Of for a step with two results.
func (f *Formula[N]) Of2(a, b *N, err error) (*N, *N) {
	return f.Of(a, err), f.Of(b, err)
}

// Err returns the first error.
func (f *Formula[N]) Err() error { return f.err }
