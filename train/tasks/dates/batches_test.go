package dates

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func TestPairBatch(t *testing.T) {
	a := must(NewAlphabets())
	out := NewBatch(a, 3)
	list := &ListedPairs{Pairs: []Pair{{"1.2.2003", "2003-02-01"}, {"4/5/06", "2006-04-05"},
		{"7 may '08", "2008-05-07"}, {"9 jun 2010", "2010-06-09"}}, Out: out}
	for range 2 { // the list starts again
		var sizes []int
		for {
			b, err := list.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			sizes = append(sizes, b.Tokens)
			require.Same(t, out.Batch.Inputs[SourceInput], b.Inputs[SourceInput])
		}
		require.Equal(t, []int{3 * ISOLength, ISOLength}, sizes)
	}
	source := must(a.Written.Encode("9 jun 2010"))
	require.Equal(t, append(source, make([]int, WrittenLength*3-len(source))...), out.Source, "padding and empty rows")
	require.Equal(t, []int{len(source), 0, 0}, out.Lengths)
	iso := must(a.ISO.Encode("2010-06-09"))
	require.Equal(t, append(append([]int{a.Begin()}, iso[:9]...), make([]int, 2*ISOLength)...), out.Target)
	require.Equal(t, append(iso, slices.Repeat([]int{graph.IgnoreTarget}, 2*ISOLength)...), out.Targets)
	_, err := out.Fill([]Pair{{"März", "2010-06-09"}})
	require.ErrorContains(t, err, `got 'M' at position 0`)
	_, err = out.Fill([]Pair{{"9 jun 2010", "2010–06–09"}})
	require.ErrorContains(t, err, `got '–' at position 4`)
}

// A source that was restored yields the same batches as the first source.
func TestRandomPairsResume(t *testing.T) {
	a := must(NewAlphabets())
	dates, _ := Split(1)
	source := func(seed uint64) *RandomPairs { return NewRandomPairs(dates, rand.NewPCG(seed, 1), NewBatch(a, 5)) }
	first, second := source(1), source(2)
	must(first.Next())
	require.NoError(t, second.SetState(first.State()))
	for range 3 {
		must(first.Next())
		must(second.Next())
		require.Equal(t, first.Out.Source, second.Out.Source)
	}
	require.Error(t, second.SetState([]byte("short")))
	require.Equal(t, first.State(), second.State(), "an error leaves it where it was")
}
