package generate_test

import (
	"strings"
	"testing"

	_ "attention/internal/testenv"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A text is returned up to the first stop text, for any division into pieces.
func TestStopsCutAtTheFirstStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 1, 4, -1)
		stops := rapid.SliceOfN(letters, 0, 3).Draw(t, "stops")
		s := generate.NewStops(stops...)
		pieces := rapid.SliceOf(rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 20, -1)).Draw(t, "pieces")
		// The text ends with the first piece that completes a stop text, because no more is drawn then: a longer stop text
		// that began earlier no longer counts.
		want, stopped := "", false
		for _, piece := range pieces {
			text := want + piece
			want = text
			for _, stop := range stops {
				if i := strings.Index(text, stop); i >= 0 && i <= len(want) {
					want, stopped = text[:i], true
				}
			}
			if stopped {
				break
			}
		}
		got := ""
		for _, piece := range pieces {
			got += s.Add(piece)
			if !strings.HasPrefix(want, got) {
				t.Fatalf("printed %q of %q", got, want)
			}
		}
		got += s.Flush()
		if got != want || s.Stopped() != stopped {
			t.Fatalf("got %q, stopped %v, want %q, %v", got, s.Stopped(), want, stopped)
		}
	})
	s := generate.NewStops("b", "", "ab", "c")
	require.Equal(t, "x", s.Add("xabc"), "the first in the text, not in the list")
	s = generate.NewStops("abc")
	require.Equal(t, "xa", s.Add("xaab"), "what cannot begin a stop text is shown at once")
}
