package forward

import (
	"context"
	"math"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// The measure of telling heads follows from the single weights, by its definition. Only letters count, not the blank
// and the newline.
func TestTells(t *testing.T) {
	const text = "abc défg\nab"
	p := seen(t, Request{Text: text})
	got, err := p.Tells()
	require.NoError(t, err)
	require.Equal(t, []int{11, 11}, got.Rows)
	weights := make([][]float32, 11) // (layer and head, key) of each query
	for q := range 11 {
		for _, l := range p.Layers {
			_, w, err := l.row(q)
			require.NoError(t, err)
			weights[q] = append(weights[q], w...)
		}
	}
	spoken := func(at int) bool { return at != 3 && at != 8 }
	best, most := []int(nil), float32(leastTold)
	for h := range 6 {
		for q := range 11 {
			want := float32(0)
			for k := 1; k < q-1; k++ {
				others := float32(0)
				for other := range 6 {
					if other != h {
						others += weights[q][other*11+k] / 5
					}
				}
				d := float32(q - k)
				if spoken(q) && spoken(k) {
					want = max(want, (weights[q][h*11+k]-others)*(d-1)/(d+2))
				}
			}
			require.InDelta(t, want, got.Tells[h*11+q], 1e-6, "head %d, token %d", h, q)
			if want > most {
				best, most = []int{h / 3, h % 3, q}, want
			}
		}
	}
	require.Equal(t, best, got.Best)
	// The text contains a and b twice: the second time at positions 9 and 10.
	for h := range 6 {
		s, err := p.Layers[h/3].Summary(h % 3)
		require.NoError(t, err)
		require.InDelta(t, (weights[9][h*11]+weights[10][h*11+1])/2, *s.Statistics.Same, 1e-6)
		require.InDelta(t, (weights[9][h*11+1]+weights[10][h*11+2])/2, *s.Statistics.After, 1e-6)
	}
}

// In a long text a cell covers several tokens. The chosen token is the one with the largest weight in its cell.
func TestTellsOfALongText(t *testing.T) {
	m, err := Open(commandtest.WriteGPT(t, commandtest.LongGPT(t, 2*cellsSide)))
	require.NoError(t, err)
	p, err := m.Forward(context.Background(), Request{Text: strings.Repeat("abcdefé", 136)})
	require.NoError(t, err)
	got, err := p.Tells()
	require.NoError(t, err)
	require.Equal(t, []int{cellsSide, cellsSide}, got.Rows)
	l := p.Layers[0]
	token, err := l.tokenOf(1, 300)
	require.NoError(t, err)
	most := func(q int) (most float32) {
		_, w, err := l.row(q)
		require.NoError(t, err)
		for k := 1; k < q-1; k++ {
			most = max(most, w[l.S+k])
		}
		return most
	}
	require.Equal(t, 300, token*cellsSide/l.T)
	for q := range l.T {
		if q*cellsSide/l.T == 300 {
			require.LessOrEqual(t, most(q), most(token))
		}
	}
	require.False(t, math.IsNaN(float64(most(token))))
}
