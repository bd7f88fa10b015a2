package dates

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDateStyles(t *testing.T) {
	d := time.Date(1975, time.September, 3, 0, 0, 0, 0, time.UTC)
	var written []string
	for _, style := range Styles() {
		p := Write(d, style)
		require.Equal(t, "1975-09-03", p.ISO)
		written = append(written, p.Written)
	}
	require.Equal(t, []string{
		"3 september 1975", "september 3, 1975", "wednesday, 3 september 1975", "3 sep 1975", "sep 3, 1975",
		"wed 3 sep 1975", "3 sep '75", "3.9.1975", "9/3/1975", "9/3/75",
	}, written)
}

// No two dates have the same written form, and every written date fits the model.
func TestDatesAreUnambiguous(t *testing.T) {
	training, heldOut := Split(1)
	read := map[string]string{}
	longest, seen := 0, map[rune]bool{}
	for _, d := range slices.Concat(training, heldOut) {
		for _, style := range Styles() {
			p := Write(d, style)
			if other, ok := read[p.Written]; ok && other != p.ISO {
				require.Fail(t, "two readings", "%q: %s and %s", p.Written, other, p.ISO)
			}
			read[p.Written] = p.ISO
			longest = max(longest, len(p.Written))
			for _, c := range p.Written {
				seen[c] = true
			}
		}
	}
	require.Equal(t, WrittenLength, longest)
	for c := range seen {
		require.Contains(t, WrittenCharacters, string(c))
	}
}

func TestSplitDates(t *testing.T) {
	training, heldOut := Split(7)
	require.Len(t, heldOut, heldOutDates)
	days := map[time.Time]int{}
	for _, d := range slices.Concat(training, heldOut) {
		days[d]++
	}
	require.Len(t, days, len(training)+len(heldOut), "no date is on both sides")
	require.Len(t, days, 36525, "of a hundred years")
	again, _ := Split(7)
	require.Equal(t, training, again)
	other, _ := Split(8)
	require.NotEqual(t, training, other)

	styles := map[string]int{}
	for i, p := range InEveryStyle(heldOut) {
		require.Equal(t, heldOut[i].Format(time.DateOnly), p.ISO)
		for _, style := range Styles() {
			if Write(heldOut[i], style).Written == p.Written {
				styles[style]++
				break // for "May", whose long and short forms are equal
			}
		}
	}
	require.Len(t, styles, len(Styles()))
}

func TestUntranslated(t *testing.T) {
	p := must(Untranslated("Tuesday, 6 August '63"))
	require.Equal(t, Pair{Written: "tuesday, 6 august '63", ISO: "0000-00-00"}, p)
	for _, row := range []struct{ written, want string }{
		{written: "", want: "got 0 characters, want 1 to 28"},
		{written: strings.Repeat("1", 29), want: "got 29 characters, want 1 to 28"},
		{written: "6. März", want: `got 'ä' at position 4 of "6. März", want letters from a to z, digits, blanks and ',./`},
	} {
		_, err := Untranslated(row.written)
		require.EqualError(t, err, row.want)
	}
}
