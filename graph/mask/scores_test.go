package mask_test

import (
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A Keep of a batch is not mistaken for a Keep of queries or heads.
func TestBroadcastKeepRefusesTheAmbiguous(t *testing.T) {
	const (
		rows  = "(B, 1, 1, S) or (1, 1, T, S), which B = T = 3 does not tell apart"
		heads = "(B, 1, T, S) or (1, H, T, S), which B = H = 3 does not tell apart"
		plain = "(B, 1, S) or (1, T, S), which B = T = 3 does not tell apart"
	)
	for _, c := range []struct {
		scores, keep tensor.Shape
		heads        bool
		want, reason string
	}{
		{scores: tensor.Shape{3, 2, 3, 5}, heads: true, keep: tensor.Shape{3, 5}, want: rows},
		{scores: tensor.Shape{3, 3, 3, 3}, heads: true, keep: tensor.Shape{3, 3}, want: rows},
		{scores: tensor.Shape{3, 2, 3, 5}, heads: true, keep: tensor.Shape{3, 1}, want: rows},
		{scores: tensor.Shape{3, 3, 2, 5}, heads: true, keep: tensor.Shape{3, 2, 5}, want: heads},
		{scores: tensor.Shape{3, 3, 5}, keep: tensor.Shape{3, 5}, want: plain},
		{scores: tensor.Shape{3, 2, 3, 5}, heads: true, keep: tensor.Shape{1, 3, 5}, reason: "the first axis is none of B"},
		{scores: tensor.Shape{3, 2, 3, 5}, heads: true, keep: tensor.Shape{3, 1, 1, 5}, reason: "has the batch"},
		{scores: tensor.Shape{3, 3, 5}, keep: tensor.Shape{3, 1, 5}, reason: "has the batch"},
		{scores: tensor.Shape{3, 2, 3, 3}, heads: true, keep: tensor.Shape{3}, reason: "for all"},
		{scores: tensor.Shape{3, 2, 3, 3}, heads: true, keep: tensor.Shape{}, reason: "for all"},
		{scores: tensor.Shape{2, 2, 3, 5}, heads: true, keep: tensor.Shape{3, 5}, reason: "B is not T"},
		{scores: tensor.Shape{1, 2, 1, 5}, heads: true, keep: tensor.Shape{1, 5}, reason: "one batch, one query"},
		{scores: tensor.Shape{2, 3, 5}, heads: true, keep: tensor.Shape{3, 5}, reason: "no batch"},
	} {
		s := mask.ScoresOf(c.scores, c.heads)
		_, want := s.BroadcastKeep(c.keep)
		require.Equal(t, c.want, want, "%v for %v: %s", c.keep, c.scores, c.reason)
		_, want = s.Broadcast(c.keep)
		require.Empty(t, want, "a bias is as in torch")
	}
}
