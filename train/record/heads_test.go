package record_test

import (
	"math"
	"testing"

	"attention/train/record"

	"github.com/stretchr/testify/require"
)

func TestHeads(t *testing.T) {
	r := record.Record{Numbers: map[string][]record.Number{
		"entropy.h.1": {2, 0.5}, "entropy.h.0": {1, 2}, "entropyless.h.0": {7}, "largest_score.h.0": {8},
	}}
	require.Equal(t, []record.Head{{Layer: "h.1", Head: 1, Number: 0.5}, {Layer: "h.0", Number: 1},
		{Layer: "h.0", Head: 1, Number: 2}, {Layer: "h.1", Number: 2}}, r.Heads("entropy"))
	require.Empty(t, r.Heads("largest"))
	r.Numbers["entropy.h.0"][1] = record.Number(math.NaN())
	require.Equal(t, 1, r.Heads("entropy")[0].Head, "NaN comes first")
}
