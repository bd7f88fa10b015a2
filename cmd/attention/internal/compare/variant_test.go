package compare

import (
	"testing"

	"attention/train/tasks/lookback"

	"github.com/stretchr/testify/require"
)

// All models of both kinds have as many parameters as full attention; a size at which one cannot is an error.
func TestEqualSizes(t *testing.T) {
	small := ofTask(lookback.Copy)
	text := small
	text.model.EmbedDim, text.model.NumHeads, text.model.NumLayers, text.model.DimFeedforward = 128, 4, 4, 344
	for _, g := range []goal{small, text} {
		want, err := g.count(variants()[0], g.model.DimFeedforward)
		require.NoError(t, err)
		for _, v := range variants() {
			c, err := g.sized(v)
			require.NoError(t, err, v.name)
			require.NoError(t, c.Validate(), v.name)
			got, err := g.count(v, c.Blocks[0].MLP.DimFeedforward)
			require.NoError(t, err, v.name)
			require.InEpsilon(t, want, got, closeness, v.name)
		}
	}
	small.model.DimFeedforward = 4
	gated, err := choose([]string{"gated_delta_net"})
	require.NoError(t, err)
	_, err = small.sized(gated[0])
	require.ErrorContains(t, err, "up to 3 %, as with full attention")
}

func TestChoose(t *testing.T) {
	chosen, err := choose([]string{"window", "full", "window"})
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	require.Equal(t, []string{"window", "full"}, []string{chosen[0].name, chosen[1].name})
}
