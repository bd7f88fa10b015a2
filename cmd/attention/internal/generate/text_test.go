package generate

import (
	"bytes"
	"strings"
	"testing"

	"attention/cmd/attention/internal/term"
	_ "attention/internal/testenv"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A text is printed up to the first stop text, whatever pieces it comes in.
func TestStopperCutsAtTheFirstStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 1, 4, -1)
		s := stopper{stops: rapid.SliceOfN(letters, 0, 3).Draw(t, "stops")}
		pieces := rapid.SliceOf(rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 20, -1)).Draw(t, "pieces")
		// The text ends with the first piece that completes a stop text, since no more is drawn
		// then: a longer one that began earlier is no longer waited for.
		want, stopped := "", false
		for _, piece := range pieces {
			text := want + piece
			want = text
			for _, stop := range s.stops {
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
			got += s.add(piece)
			if !strings.HasPrefix(want, got) {
				t.Fatalf("printed %q of %q", got, want)
			}
		}
		got += s.rest()
		if got != want || s.stopped != stopped {
			t.Fatalf("got %q, stopped %v, want %q, %v", got, s.stopped, want, stopped)
		}
	})
	s := stopper{stops: []string{"b", "ab", "c"}}
	require.Equal(t, "x", s.add("xabc"), "the first in the text, not in the list")
	s = stopper{stops: []string{"abc"}}
	require.Equal(t, "xa", s.add("xaab"), "what cannot begin a stop text is shown at once")
}

// A model's text is escaped on a screen, and unchanged for another program.
func TestGenerateEscapesOnATerminal(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&continuation{out: term.NewScreen(&out)}).print("a\x1b[2J\n"))
	require.NoError(t, (&continuation{out: term.Raw(term.NewScreen(&out))}).print("\x1b"))
	require.Equal(t, "a\\x1b[2J\n\x1b", out.String())
}
