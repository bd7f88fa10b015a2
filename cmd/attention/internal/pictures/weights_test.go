package pictures

import (
	"encoding/json"
	"testing"

	"attention/cmd/attention/internal/plot"
	"attention/layers"
	"attention/train/record"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gorgonia.org/tensor"
)

func quoted(text []string) string {
	all, _ := json.Marshal(text)
	return string(all)
}

func TestPick(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {0}, 2: {0, 1}, 5: {0, 1, 2, 3, 4}, 9: {0, 2, 4, 6, 8},
		6: {0, 1, 3, 4, 5}} {
		require.Equal(t, want, pick(n, 5))
	}
}

// Matrices that differ in a number have one colour and one entry in the legend.
func TestWeightsPage(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	line := record.Record{}
	for _, name := range []string{"h.0.w", "h.1.w", "wte", "h.0.bias"} {
		shape := []int{2, 3}
		if name == "h.0.bias" {
			shape = shape[1:]
		}
		_, err := p.Scope("").Param(name, layers.Constant(1), shape...)
		require.NoError(t, err)
		line.Params = append(line.Params, record.Param{Name: name, Norm: 2})
	}
	later := line
	later.Step = 10
	m := tensor.New(tensor.WithShape(2, 2, 2), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6, 7, 8}))
	page := Weights(&record.Recording{Records: []record.Record{line, later}, Steps: []int{0, 10},
		Matrices: map[string]*tensor.Dense{"h.1.w": m}}, p, "a model")
	var names []string
	for _, c := range page.Panels[0].Curves {
		names = append(names, c.Name)
		require.Len(t, c.Points, 2)
	}
	require.Equal(t, []string{"h.*.w", "", "wte"}, names)
	require.Len(t, page.Panels[2].Curves[0].Points, 1, "the first record has no change")
	require.Equal(t, "h.1.w, its first 2 rows and 2 columns", page.Maps.Title)
	require.Equal(t, []float64{5, 6, 7, 8}, page.Maps.Maps[1].Values)
}

// Curves that end far apart are drawn on a logarithmic axis.
func TestFarApart(t *testing.T) {
	curve := func(points ...float64) (c plot.Curve) {
		for i, y := range points {
			c.Points = append(c.Points, plotter.XY{X: float64(i), Y: y})
		}
		return c
	}
	require.False(t, farApart(nil))
	require.False(t, farApart([]plot.Curve{curve(0, 0), curve(0, 5)}))
	require.False(t, farApart([]plot.Curve{curve(100, 1), curve(2), {}}))
	require.True(t, farApart([]plot.Curve{curve(1, 1), curve(1, 11)}))
}
