package reversal

import (
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The models have equal numbers of parameters, within 4 %.
func TestModelsAreEqual(t *testing.T) {
	least, most := 1<<40, 0
	for _, k := range []Kind{Squeezed, Attending, Transformer} {
		m := must(New(layers.NewParams(tensor.Float32, 1).Scope(""), k))
		least, most = min(least, m.Params().Count()), max(most, m.Params().Count())
	}
	require.LessOrEqual(t, float64(most), 1.04*float64(least))
	_, err := New(layers.NewParams(tensor.Float32, 1).Scope(""), "mirror")
	require.EqualError(t, err, `reversal: kind: got "mirror", want squeezed, attending or transformer`)
}
