package forward

import (
	"encoding/json"
	"os"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// A page on a published model opens on the head and token that tell most: a pronoun on its noun, a name on the same
// name, a word on what followed it before. The values are those of transformers, by testdata/published/tells.py.
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
