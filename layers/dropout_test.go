package layers_test

import (
	"encoding/json"
	"math"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// In a Train graph an element is 0 or x/(1−P). Each call drops other elements, and so does another key. An Eval graph
// has no dropout at all.
func TestDropout(t *testing.T) {
	const n, p = 1000, 0.2
	params, drop := layers.NewParams(tensor.Float64, 1), layers.Dropout{P: p}
	ones := of(make([]float64, n), n)
	require.NoError(t, ones.Memset(1.0))
	b := layers.NewBuild(params, layers.Train)
	x := input(t, b, "x", ones)
	first := must(drop.Forward(b, x))
	second := must(drop.Forward(b, x))
	var drawn [][]float64
	for key := range int64(2) {
		require.NoError(t, G.Let(b.DropoutKey(), key))
		drawn = append(drawn, values(t, first, second)...)
	}
	for i, y := range drawn {
		kept := 0
		for _, v := range y {
			if v != 0 {
				require.InDelta(t, 1/(1-p), v, 1e-15)
				kept++
			}
		}
		require.InDelta(t, n*(1-p), kept, 5*math.Sqrt(n*p*(1-p)), "5 standard errors; the keys are fixed")
		for _, other := range drawn[:i] {
			require.NotEqual(t, other, y)
		}
	}

	b = layers.NewBuild(params, layers.Eval)
	x = input(t, b, "x", ones)
	require.Same(t, x, must(drop.Forward(b, x)))
	require.Nil(t, b.DropoutKey())
}

func TestWrongDropoutsAreRefused(t *testing.T) {
	for _, mode := range []layers.Mode{layers.Train, layers.Eval} {
		b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), mode)
		x := b.Input("x", 3)
		for _, c := range []struct {
			p       float64
			x       *G.Node
			wantErr string
		}{
			{1, x, "P: got 1, want a number from 0 to below 1"},
			{-0.1, x, "P: got -0.1, want a number from 0 to below 1"},
			{math.NaN(), x, "P: got NaN, want a number from 0 to below 1"},
			{0.5, nil, "x: got nil, want a node"},
			{0, nil, "x: got nil, want a node"},
		} {
			_, err := layers.Dropout{P: c.p}.Forward(b, c.x)
			require.EqualError(t, err, "layers: Dropout: "+c.wantErr)
		}
	}
}

func TestDropoutJSON(t *testing.T) {
	var d layers.Dropout
	require.NoError(t, json.Unmarshal([]byte(`{"p":0.1}`), &d))
	require.Equal(t, layers.Dropout{P: 0.1}, d)
	require.Equal(t, `{"p":0.1}`, string(must(json.Marshal(d))))
}
