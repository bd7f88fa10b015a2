package heads_test

import (
	"testing"

	"attention/graph/mask"
	"attention/layers"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
)

// The keys that a function and an offset show, and a panic in the function.
func TestShownKeysOfFuncsAndOffsets(t *testing.T) {
	for _, c := range []struct {
		name    string
		mask    mask.Mask
		want    heads.Keys
		refused string
	}{
		{name: "offset", mask: mask.Causal{Offset: -1},
			want: heads.Keys{Start: []uint32{0, 0, 1, 2}, Keys: []uint32{0, 1, 0, 2}}},
		{name: "function", mask: mask.Func{VisibleAt: func(t, s int) bool { return s != t }},
			want: heads.Keys{Start: []uint32{0, 1, 3, 4}, Keys: []uint32{1, 3, 0, 1, 2, 3, 0, 2}}},
		{name: "first head", mask: mask.Func{Visible: func(b, h, t, s int) bool { return b+h+t+s == 2 }},
			want: heads.Keys{Start: []uint32{0, 1, 2, 3}, Keys: []uint32{2, 3, 1, 2, 0, 1}}},
		{name: "panic", mask: mask.Func{Name: "mine", VisibleAt: func(t, s int) bool { panic("none") }},
			refused: `heads: shown keys: mask: Func "mine": got a panic for query 0 and key 0: none, ` +
				"want true or false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, call := attend(t, layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4, Mask: c.mask}, 3, 5)
			o, nodes := operandsOf(t, call)
			values(t, nodes...)
			shown, err := heads.Shown(must(heads.Keep(o)), 0)
			if c.refused != "" {
				require.EqualError(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, shown)
		})
	}
}
