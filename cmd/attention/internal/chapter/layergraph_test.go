package chapter

import (
	"strings"
	"testing"

	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
)

// TestLayerGraphs: the graph that is drawn of a layer has the steps of attention, not the op that computes them at once.
func TestLayerGraphs(t *testing.T) {
	for _, s := range chapter.Sections() {
		c := s.Layer()
		if c.Layer == "" || c.Layer == "additive" { // which has no other form
			continue
		}
		d, err := layerGraph(s)
		require.NoError(t, err)
		var labels strings.Builder
		for _, n := range d.Nodes {
			labels.WriteString(n.Label + "\n")
		}
		require.Contains(t, labels.String(), "Softmax", c.Layer)
		require.NotContains(t, labels.String(), "FusedAttention", c.Layer)
		for _, parameter := range []string{"W_query", "W_key", "W_value"} {
			require.Equal(t, c.Layer != "simple", strings.Contains(labels.String(), parameter), c.Layer)
		}
	}
}
