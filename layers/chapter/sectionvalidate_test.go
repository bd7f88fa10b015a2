package chapter_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestSectionRefusesChanges: settings that the section does not have, and values out of range, are errors.
func TestSectionRefusesChanges(t *testing.T) {
	long := strings.Split(strings.Repeat("a ", 65), " ")[:65]
	for _, c := range []struct {
		number int
		change func(*chapter.Section)
		want   string
	}{
		{1, func(s *chapter.Section) { s.NumHeads = 2 }, "NumHeads: got a value, want none: the section has no heads"},
		{9, func(s *chapter.Section) { s.Dropout = 0.1 }, "Dropout: got a value, want none: the section has no dropout"},
		{15, func(s *chapter.Section) { s.Words = []string{"a", "b"} },
			"Words: got a value, want none: the section has no words"},
		{10, func(s *chapter.Section) { s.Dropout = 1 }, "Dropout: got 1, want a number from 0 to below 1"},
		{10, func(s *chapter.Section) { s.Dropout = -0.1 }, "Dropout: got -0.1, want a number from 0 to below 1"},
		{12, func(s *chapter.Section) { s.NumHeads = 0 }, "NumHeads: got 0, want at least 1"},
		{12, func(s *chapter.Section) { s.NumHeads = 65 }, "NumHeads: got 65, want at most 64"},
		{15, func(s *chapter.Section) { s.NumHeads = 5 }, "NumHeads: got 5, want a divisor of OutDim=768"},
		{1, func(s *chapter.Section) { s.Words = nil }, "Words: got 0, want 2 to 64 words"},
		{1, func(s *chapter.Section) { s.Words = []string{"alone"} }, "Words: got 1, want 2 to 64 words"},
		{1, func(s *chapter.Section) { s.Words = long }, "Words: got 65, want 2 to 64 words"},
		{1, func(s *chapter.Section) { s.Words = []string{"a", ""} },
			`Words[1]: got "", want 1 to 64 bytes of printable text without blanks`},
		{1, func(s *chapter.Section) { s.Words = []string{"a\x1b[2J", "b"} },
			`Words[0]: got "a\x1b[2J", want 1 to 64 bytes of printable text without blanks`},
		{1, func(s *chapter.Section) { s.Words = []string{"two words", "b"} },
			`Words[0]: got "two words", want 1 to 64 bytes of printable text without blanks`},
	} {
		s := chapter.Sections()[c.number-1]
		c.change(&s)
		_, err := s.Run(tensor.Float32)
		require.EqualError(t, err, fmt.Sprintf("chapter: section %d: %s", c.number, c.want))
	}
}
