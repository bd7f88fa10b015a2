package forward

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// seen returns a pass of a small GPT at a text.
func seen(t testing.TB, r Request) *Pass {
	m, err := Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	l, err := m.Forward(context.Background(), r)
	require.NoError(t, err)
	return l
}

// The probabilities are softmax(logits/temperature). The drawn token is the one at which the cumulative probability,
// the likeliest first, exceeds the given number.
func TestNextAt(t *testing.T) {
	l := seen(t, Request{Text: "abc"})
	plain, err := l.NextAt(0, 1, 0)
	require.NoError(t, err)
	require.Equal(t, l.Next[0], plain.Likeliest)
	require.Equal(t, plain.Likeliest[0], plain.Drawn)
	for _, temperature := range []float64{0.5, 2} {
		got, err := l.NextAt(0, temperature, 0)
		require.NoError(t, err)
		a, b := got.Likeliest[0].Probability/got.Likeliest[1].Probability, plain.Likeliest[0].Probability/plain.Likeliest[1].Probability
		require.InDelta(t, math.Log(b)/temperature, math.Log(a), 1e-9)
	}
	p := plain.Likeliest
	for draw, want := range map[float64]int{0: 0, p[0].Probability - 1e-9: 0, p[0].Probability + 1e-9: 1,
		p[0].Probability + p[1].Probability + 1e-9: 2} {
		got, err := l.NextAt(0, 1, draw)
		require.NoError(t, err)
		require.Equal(t, p[want], got.Drawn, "%v", draw)
	}
	greedy, err := l.NextAt(0, 0, 0.99)
	require.NoError(t, err)
	require.Equal(t, p[0].ID, greedy.Drawn.ID)
	require.Equal(t, 1.0, greedy.Drawn.Probability)
	require.Zero(t, greedy.Likeliest[1].Probability)
	for _, row := range []struct {
		at                int
		temperature, draw float64
		want              string
	}{
		{at: 1, want: "at: got 1, want a place from 0 to 0"},
		{temperature: -1, want: "temperature: got -1, want 0 to 10"},
		{temperature: math.NaN(), want: "temperature: got NaN, want 0 to 10"},
		{draw: 1, want: "draw: got 1, want a number from 0 to below 1"},
	} {
		_, err := l.NextAt(row.at, row.temperature, row.draw)
		require.EqualError(t, err, row.want)
	}
}

// Appended tokens have the same effect as the same tokens at the end of the text.
func TestThen(t *testing.T) {
	whole := seen(t, Request{Text: "abcd"})
	then := []int{whole.Sequences[0].Tokens[2].ID, whole.Sequences[0].Tokens[3].ID}
	got := seen(t, Request{Text: "ab", Then: then})
	require.Equal(t, whole.Sequences, got.Sequences)
	require.Equal(t, whole.Next, got.Next)
	require.Equal(t, "abcd", got.Whole)
	m, err := Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	_, err = m.Forward(context.Background(), Request{Text: "ab", Then: []int{-1}})
	require.ErrorContains(t, err, "then: got token -1, want 0 to ")
}

// The measure of a telling head follows its definition, and the largest weights are the maxima of the rows.
func TestTelling(t *testing.T) {
	l := seen(t, Request{Text: "abcdefgabc"})
	for _, layer := range l.Layers {
		for head := range layer.Heads {
			w, s := headWeights(t, layer, head), layer.S
			sum := 0.0
			for q := range layer.T {
				row := w[q*s:][:q+1]
				entropy, most := 0.0, 0.0
				for _, x := range row {
					entropy -= x * math.Log(max(x, 1e-300))
					most = max(most, x)
				}
				got, err := layer.Summary(head)
				require.NoError(t, err)
				require.InDelta(t, most, got.Most[q], 1e-5)
				if q >= 4 {
					sum += (1 - entropy/math.Log(float64(q+1))) * (1 - row[0] - row[q])
				}
			}
			got, err := layer.Summary(head)
			require.NoError(t, err)
			require.InDelta(t, sum/float64(layer.T-4), *got.Statistics.Telling, 1e-5)
		}
	}
	short := seen(t, Request{Text: "abcd"})
	got, err := short.Layers[0].Summary(0)
	require.NoError(t, err)
	require.Nil(t, got.Statistics.Telling, "no query sees five keys")
}

// The page of a published model opens with its most telling head and token. That token attends from a pronoun to its
// noun, from a name to the same name, or from a word to the one after its previous occurrence. The values are those of
// transformers, by testdata/published/tells.py.
func TestOpensOnATellingHead(t *testing.T) {
	m, err := Open(golden.Published(t, "smollm2"))
	require.NoError(t, err)
	content, err := os.ReadFile("../../../../../testdata/published/tells.json")
	require.NoError(t, err)
	var all []struct {
		Text                    string
		Layer, Head, Token, Key int
		Weight                  float64
	}
	require.NoError(t, json.Unmarshal(content, &all))
	require.Len(t, all, 12)
	for _, want := range all {
		p, err := m.Forward(t.Context(), Request{Text: want.Text})
		require.NoError(t, err)
		tells, err := p.Tells()
		require.NoError(t, err)
		require.Equal(t, []int{want.Layer, want.Head, want.Token}, tells.Best, want.Text)
		l := p.Layers[want.Layer]
		_, weights, err := l.row(want.Token)
		require.NoError(t, err)
		require.InDelta(t, want.Weight, weights[want.Head*l.S+want.Key], 1e-3, want.Text)
	}
}
