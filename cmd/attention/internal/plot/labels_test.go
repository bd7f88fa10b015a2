package plot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A label is the whole token in characters that are seen, cut if it is long.
func TestLabels(t *testing.T) {
	require.Equal(t, []string{"a", "·", "the", "¶", "¶¶", "¤", "¤", "don't", "self·made", "extraordina…", "¤"},
		Labels([]string{"a", " ", " the", "\n", "\n\n", "\\xc3", "", "don't", "self made", "extraordinarily", "\t"}))
	var characters []string
	for _, c := range "aé≤ \n\r\t\u00a0\u200d😀語" {
		characters = append(characters, string(c))
	}
	require.Equal(t, []string{"a", "é", "≤", "·", "¶", "¤", "¤", "¤", "¤", "¤", "¤"}, Labels(characters))
}
