package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// A page of few numbers is drawn too: of a single point, of none above 0 on a logarithmic axis, without maps.
func TestPage(t *testing.T) {
	dots := DotsPerInch
	t.Cleanup(func() { DotsPerInch = dots })
	DotsPerInch = 64 // a point has more dots than 20, a page half of its own
	red := color.NRGBA{R: 0xd5, G: 0x5e, A: 0xff}
	curve := func(points ...float64) []Curve {
		c := Curve{Name: "curve", Color: red, Width: 3}
		for i, y := range points {
			c.Points = append(c.Points, plotter.XY{X: float64(i), Y: y})
		}
		return []Curve{c}
	}
	cell := HeatMap{Title: "a cell", Columns: []string{"1"}, Rows: []string{"1"}, Values: []float64{-1}}
	for _, row := range []struct {
		reason string
		page   Page
		drawn  bool
	}{
		{reason: "two points", drawn: true, page: Page{Panels: []Panel{{Curves: curve(1, 2)}}}},
		{reason: "on a logarithmic axis", drawn: true, page: Page{Panels: []Panel{{Curves: curve(0, 1, 100), Log: true}}}},
		{reason: "a point", drawn: true, page: Page{Panels: []Panel{{Curves: curve(1)}, {Curves: curve(1), Log: true}}}},
		{reason: "zeros", drawn: true, page: Page{Panels: []Panel{{Curves: curve(0, 0)}}}},
		{reason: "nothing above 0", page: Page{Panels: []Panel{{Curves: curve(0, 0), Log: true}}}},
		{reason: "no curves", page: Page{Panels: []Panel{{}, {}, {}, {}}}},
		{reason: "a map", page: Page{Panels: []Panel{{}}, Maps: HeatMaps{Maps: []HeatMap{cell}, Signed: true, Across: 5}}},
	} {
		var file bytes.Buffer
		row.page.Title = row.reason
		require.NoError(t, row.page.Write(&file), row.reason)
		count := pixelsOf(t, &file)[red]
		require.Equal(t, row.drawn, count > 20, "%s: %d pixels", row.reason, count)
	}
}

// A logarithmic axis has labels at powers of 10, and between where these are few.
func TestLogTicks(t *testing.T) {
	for _, row := range []struct {
		from, to float64
		want     string
	}{
		{from: 0.03, to: 0.4, want: "0.05 0.1 0.2"},
		{from: 6, to: 2400, want: "10 20 50 100 200 500 1000 2000"},
		{from: 0.5, to: 4000, want: "1 10 100 1000"},
		{from: 0.1, to: 0.1, want: "0.1"},
	} {
		var labels []string
		for _, tick := range logTicks(row.from, row.to) {
			require.GreaterOrEqual(t, tick.Value, row.from)
			require.LessOrEqual(t, tick.Value, row.to)
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		require.Equal(t, row.want, strings.Join(labels, " "))
	}
}

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
