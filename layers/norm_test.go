package layers_test

import (
	"math"
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Eps of 0 is torch's for each kind of norm, and gains begin with 1, those of 1 + weight too, biases with 0.
func TestNormDefaults(t *testing.T) {
	x := golden.Dense(tensor.Float64, []float64{1e-3, 2e-3, 6e-3}, 1, 3)
	variance, square := (4.0+1+9)/3*1e-6, (1.0+4+36)/3*1e-6
	for _, c := range []struct {
		config layers.NormConfig
		want   []float64
	}{
		{config: layers.NormConfig{EmbedDim: 3, Bias: true},
			want: []float64{-2e-3 / math.Sqrt(variance+1e-5), -1e-3 / math.Sqrt(variance+1e-5),
				3e-3 / math.Sqrt(variance+1e-5)}},
		{config: layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm},
			want: []float64{1e-3 / math.Sqrt(square+1e-6), 2e-3 / math.Sqrt(square+1e-6), 6e-3 / math.Sqrt(square+1e-6)}},
		{config: layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm, Eps: 1},
			want: []float64{1e-3 / math.Sqrt(square+1), 2e-3 / math.Sqrt(square+1), 6e-3 / math.Sqrt(square+1)}},
		{config: layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm, UnitOffset: true, Eps: 1},
			want: []float64{1e-3 / math.Sqrt(square+1), 2e-3 / math.Sqrt(square+1), 6e-3 / math.Sqrt(square+1)}},
	} {
		p := layers.NewParams(tensor.Float64, 1)
		l := must(layers.NewNorm(p.Scope(""), c.config))
		requireDeclared(t, p, layers.NewNorm, c.config)
		b := layers.NewBuild(p, layers.Eval)
		require.InDeltaSlice(t, c.want, values(t, must(l.Forward(b, input(t, b, "x", x))))[0], 1e-12)
	}
}
