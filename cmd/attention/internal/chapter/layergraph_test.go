package chapter

import (
	"fmt"
	"strings"
	"testing"

	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
)

// TestLayerGraphs: the graph that is drawn of a layer has the steps of attention, not the op that computes them at
// once.
func TestLayerGraphs(t *testing.T) {
	for _, s := range chapter.Sections() {
		c := s.Layer()
		if c.Layer == "" || c.Layer == "additive" { // which has no other form
			continue
		}
		b, _, err := s.Graph()
		require.NoError(t, err)
		var nodes strings.Builder
		for _, n := range b.Graph().AllNodes() {
			fmt.Fprintln(&nodes, n.Name(), n.Op())
		}
		require.Contains(t, nodes.String(), "Softmax", c.Layer)
		require.NotContains(t, nodes.String(), "FusedAttention", c.Layer)
		for _, parameter := range []string{"W_query", "W_key", "W_value"} {
			require.Equal(t, c.Layer != "simple", strings.Contains(nodes.String(), parameter), c.Layer)
		}
	}
}
