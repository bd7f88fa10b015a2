package reversal

import (
	"math/rand/v2"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// A writer gives the letters of Write, which passes them to the model one by one, and the weights of Weights as long as
// all earlier letters are right.
func TestWriterWritesAsWrite(t *testing.T) {
	for kind, heads := range map[Kind]int{Squeezed: 0, Attending: 1, Transformer: 4} {
		m := must(New(layers.NewParams(tensor.Float32, 3).Scope(""), kind))
		w := must(NewWriter(m))
		s := NewStrings(1, rand.New(rand.NewPCG(4, 1)))
		for _, n := range []int{5, 17, Longest} {
			s.Draw([]int{n})
			text, _ := s.Row(0)
			got := must(w.Write(t.Context(), text))
			require.Equal(t, must(m.Write(t.Context(), s))[0], got.Text, kind)
			require.Len(t, got.Sure, n)
			for _, p := range got.Sure {
				require.Greater(t, p, 1/float64(vocab)-1e-9)
				require.LessOrEqual(t, p, 1.0)
			}
			require.Len(t, got.Heads, heads)
			weights := must(m.Weights(t.Context(), s))
			for h := range got.Heads {
				require.Len(t, got.Heads[h], n*(n+1))
				require.InDeltaSlice(t, weights[h][:n+1], got.Heads[h][:n+1], 1e-6, "of the first letter")
			}
			if kind == Squeezed {
				require.Len(t, got.State, 92)
			} else {
				require.Nil(t, got.State)
			}
		}
	}
}

// A string of one letter, and a string after a longer one, gives the result that it gives alone.
func TestWriterForgets(t *testing.T) {
	w := must(NewWriter(newMirror(t, 4)))
	for _, c := range []struct{ text, want string }{{"abcd", "dcba"}, {"hgfedcba", "efghaaaa"}, {"jiih", "hiij"}} {
		got := must(w.Write(t.Context(), c.text))
		require.Equal(t, c.want, got.Text)
		require.Nil(t, got.Heads)
	}
}

func TestWriterRefuses(t *testing.T) {
	w := must(NewWriter(newMirror(t, 4)))
	for _, c := range []struct{ text, wantErr string }{
		{"", "text: got 0 letters, want 1 to 40"},
		{"abcdefghijabcdefghijabcdefghijabcdefghija", "text: got 41 letters, want 1 to 40"},
		{"abkc", `text: got "kc", want letters from a to j`},
		{"aé", `text: got "é", want letters from a to j`},
	} {
		_, err := w.Write(t.Context(), c.text)
		require.EqualError(t, err, c.wantErr)
	}
}
