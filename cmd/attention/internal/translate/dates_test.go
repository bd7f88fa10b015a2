package translate

import (
	"io"
	"slices"
	"testing"
	"time"

	"attention/graph"

	"github.com/stretchr/testify/require"
)

func TestDateStyles(t *testing.T) {
	d := time.Date(1975, time.September, 3, 0, 0, 0, 0, time.UTC)
	var written []string
	for _, style := range dateStyles() {
		p := writeDate(d, style)
		require.Equal(t, "1975-09-03", p.iso)
		written = append(written, p.written)
	}
	require.Equal(t, []string{
		"3 september 1975", "september 3, 1975", "wednesday, 3 september 1975", "3 sep 1975", "sep 3, 1975",
		"wed 3 sep 1975", "3 sep '75", "3.9.1975", "9/3/1975", "9/3/75",
	}, written)
}

// No two dates are written alike, and every written date fits the model.
func TestDatesAreUnambiguous(t *testing.T) {
	training, heldOut := splitDates(1)
	read := map[string]string{}
	longest, seen := 0, map[rune]bool{}
	for _, d := range slices.Concat(training, heldOut) {
		for _, style := range dateStyles() {
			p := writeDate(d, style)
			if other, ok := read[p.written]; ok && other != p.iso {
				require.Fail(t, "two readings", "%q: %s and %s", p.written, other, p.iso)
			}
			read[p.written] = p.iso
			longest = max(longest, len(p.written))
			for _, c := range p.written {
				seen[c] = true
			}
		}
	}
	require.Equal(t, writtenLength, longest)
	for c := range seen {
		require.Contains(t, writtenCharacters, string(c))
	}
}

func TestSplitDates(t *testing.T) {
	training, heldOut := splitDates(7)
	require.Len(t, heldOut, heldOutDates)
	days := map[time.Time]int{}
	for _, d := range slices.Concat(training, heldOut) {
		days[d]++
	}
	require.Len(t, days, len(training)+len(heldOut), "no date is on both sides")
	require.Len(t, days, 36525, "of a hundred years")
	again, _ := splitDates(7)
	require.Equal(t, training, again)
	other, _ := splitDates(8)
	require.NotEqual(t, training, other)

	styles := map[string]int{}
	for i, p := range inEveryStyle(heldOut) {
		require.Equal(t, heldOut[i].Format(time.DateOnly), p.iso)
		for _, style := range dateStyles() {
			if writeDate(heldOut[i], style).written == p.written {
				styles[style]++
				break // of "May", whose long and short forms are one
			}
		}
	}
	require.Len(t, styles, len(dateStyles()))
}

func TestPairBatch(t *testing.T) {
	a, err := newAlphabets()
	require.NoError(t, err)
	out := newPairBatch(a, 3)
	list := &listedPairs{pairs: []datePair{{"1.2.2003", "2003-02-01"}, {"4/5/06", "2006-04-05"},
		{"7 may '08", "2008-05-07"}, {"9 jun 2010", "2010-06-09"}}, out: out}
	for range 2 { // the list starts again
		var sizes []int
		for {
			b, err := list.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			sizes = append(sizes, b.Tokens)
			require.Same(t, out.batch.Inputs[sourceInput], b.Inputs[sourceInput])
		}
		require.Equal(t, []int{3 * isoLength, isoLength}, sizes)
	}
	source, err := a.written.Encode("9 jun 2010")
	require.NoError(t, err)
	require.Equal(t, append(source, make([]int, writtenLength*3-len(source))...), out.source, "padding and empty rows")
	require.Equal(t, []int{len(source), 0, 0}, out.lengths)
	iso, err := a.iso.Encode("2010-06-09")
	require.NoError(t, err)
	require.Equal(t, append(append([]int{a.begin()}, iso[:9]...), make([]int, 2*isoLength)...), out.target)
	require.Equal(t, append(iso, slices.Repeat([]int{graph.IgnoreTarget}, 2*isoLength)...), out.targets)
	_, err = out.fill([]datePair{{"März", "2010-06-09"}})
	require.ErrorContains(t, err, `got 'M' at position 0`)
	_, err = out.fill([]datePair{{"9 jun 2010", "2010–06–09"}})
	require.ErrorContains(t, err, `got '–' at position 4`)
}
