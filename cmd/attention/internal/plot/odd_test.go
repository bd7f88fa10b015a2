package plot

import (
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// Whatever numbers the files of a run contain, no picture panics, fails or runs for ever.
func TestOddNumbersAreDrawn(t *testing.T) {
	dots := DotsPerInch
	t.Cleanup(func() { DotsPerInch = dots })
	DotsPerInch = 10
	write := func(a, b float64) {
		curves := []Curve{{Name: "x", Points: plotter.XYs{{X: 0, Y: a}, {X: 10, Y: b}}}}
		maps := []HeatMap{{Columns: []string{"a", "b"}, Rows: []string{"a"}, Values: []float64{a, b}}}
		for i, picture := range []interface{ Write(io.Writer) error }{
			Curves{Curves: curves}, Page{Panels: []Panel{{Curves: curves}}}, Page{Panels: []Panel{{Curves: curves, Log: true}}},
			HeatMaps{Across: 1, Maps: maps}, HeatMaps{Across: 1, Maps: maps, Signed: true},
		} {
			name := fmt.Sprintf("picture %d of %v and %v", i, a, b)
			require.NotPanics(t, func() { require.NoError(t, picture.Write(io.Discard), name) }, name)
		}
	}
	odd := []float64{0, -1, 1e-45, 3e16, 3e38, -3e38, 1e308, -1.7e308, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	for i, a := range odd {
		write(a, a)
		write(a, 1)
		write(odd[(i*5+3)%len(odd)], a)
	}
	for _, picture := range []interface{ Write(io.Writer) error }{
		Curves{}, Page{Panels: []Panel{{}}},
		Curves{Curves: []Curve{{Points: plotter.XYs{{X: 1, Y: 1}, {X: math.MaxInt64, Y: 2}}}}},
	} {
		require.NoError(t, picture.Write(io.Discard))
	}
}
