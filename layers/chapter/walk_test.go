package chapter

import (
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestWalkKeepsTheFirstError: after a failed step the others do nothing, and the section's error names it.
func TestWalkKeepsTheFirstError(t *testing.T) {
	s := Section{Number: 3, Words: sentence, own: &Section{Words: sentence}, build: func(w *walk) {
		x := w.tokens()
		bad := w.Of(graph.MatMul(x, x)) // (6, 3)·(6, 3)
		w.show(w.row(bad, 0), "bad[0]", "A row.")
		w.shape(bad, "bad.shape", "A shape.")
		w.show(w.sum(w.reshape(w.twice(bad), 2)), "sum", "A sum.")
		w.show(w.length(bad), "length", "A length.")
		w.show(w.ones(), "ones", "An input.")
		w.gradients(bad)
	}}
	_, err := s.Run(tensor.Float32)
	require.EqualError(t, err, "chapter: section 3: graph: MatMul: b: shape (6, 3), want (N=3, P)")
}
