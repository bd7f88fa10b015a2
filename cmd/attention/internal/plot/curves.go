package plot

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is one line of a picture of curves.
type Curve struct {
	Name   string // in the legend; empty for none
	Points plotter.XYs
	Color  color.Color
	Width  float64 // points; 0 means 1
	Dashed bool
	Dots   bool
}

// Curves is a picture of curves.
type Curves struct {
	Title, X, Y string
	Curves      []Curve
	// Shares says that Y is in percent. Such curves are high or low, so the legend is in the middle.
	Shares bool
}

// Write writes the curves as a PNG.
func (c Curves) Write(w io.Writer) error {
	p, err := plotOf(c.Title, c.X, c.Y, c.Curves)
	if err != nil {
		return err
	}
	if c.Shares {
		p.Y.Min, p.Y.Max = 0, 100
		p.Legend.YOffs = -1.5 * vg.Inch
	} else {
		p.X.Min = 0
	}
	p.X.Tick.Marker = plot.TickerFunc(stepTicks)
	margin := (p.Y.Max - p.Y.Min) / 25
	p.Y.Min, p.Y.Max = p.Y.Min-margin, p.Y.Max+margin
	canvas := newCanvas(8*vg.Inch, 5*vg.Inch)
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(10), -vg.Points(18), vg.Points(8), -vg.Points(8)))
	return writePNG(w, canvas)
}

// plotOf returns a plot of curves with a grid and a legend.
func plotOf(title, x, y string, curves []Curve) (*plot.Plot, error) {
	p := newPlot(title, x, y)
	p.Legend.Top, p.Legend.Padding = true, vg.Points(3)
	p.Add(plotter.NewGrid())
	for _, c := range curves {
		c.Points = slices.DeleteFunc(slices.Clone(c.Points),
			func(p plotter.XY) bool { return !fits(p.X) || !fits(p.Y) })
		if len(c.Points) == 0 {
			continue
		}
		if err := c.addTo(p); err != nil {
			return nil, err
		}
	}
	widen(&p.X)
	widen(&p.Y)
	return p, nil
}

// widen gives an axis a length if its numbers are large and nearly equal; gonum would add 1, which changes nothing.
func widen(a *plot.Axis) {
	const large, least = 1e9, 1e-9
	if most := max(math.Abs(a.Min), math.Abs(a.Max)); most > large && fits(most) && a.Max-a.Min < least*most {
		a.Min, a.Max = a.Min-most/10, a.Max+most/10
	}
}

// fits reports whether a number can be drawn on an axis: it is finite, and so small that the ends of axes and distances
// are finite too. Points of other numbers are left out.
func fits(x float64) bool { return math.Abs(x) <= 1/leastLog }

// leastLog is the smallest number that can be drawn on a logarithmic axis.
const leastLog = 1e-100

// addTo adds the curve and its entry in the legend to a plot. A single point is a dot.
func (c Curve) addTo(p *plot.Plot) error {
	line, dots, err := plotter.NewLinePoints(c.Points)
	if err != nil {
		return err
	}
	line.Color, line.Width = c.Color, vg.Length(max(c.Width, 1))
	if c.Dashed {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(line)
	if c.Dots || len(c.Points) == 1 {
		dots.Color, dots.Radius, dots.Shape = c.Color, 2, draw.CircleGlyph{}
		p.Add(dots)
	}
	if c.Name != "" {
		p.Legend.Add(c.Name, line)
	}
	return nil
}

// stepTicks returns gonum's ticks with labels that have no trailing zeros.
func stepTicks(from, to float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(from, to)
	for i, t := range ticks {
		if !t.IsMinor() {
			ticks[i].Label = strconv.FormatFloat(t.Value, 'f', -1, 32)
		}
	}
	return ticks
}
