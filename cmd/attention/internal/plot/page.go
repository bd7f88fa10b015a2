package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panel is a part of a page with curves.
type Panel struct {
	Title  string
	X, Y   string // labels; an empty X means step
	Curves []Curve
	Log    bool // whether the axis is logarithmic; points that are not above 0 are left out
}

// Page is a picture of panels, two in a row, with the legend of the first panel on their right. Below them are maps, if
// there are any.
type Page struct {
	Title  string
	Panels []Panel
	Maps   HeatMaps
}

// Sizes of a page in points.
const (
	panelWidth  = 400
	panelHeight = 230
	legendWidth = 230
)

// Write writes the page as a PNG.
func (p Page) Write(w io.Writer) error {
	width, height := vg.Length(2*panelWidth+legendWidth), vg.Length((len(p.Panels)+1)/2*panelHeight+titleRoom)
	var maps vg.Point
	if len(p.Maps.Maps) > 0 {
		_, maps = p.Maps.layout()
		maps.Y += titleRoom
	}
	total := max(width, maps.X)
	canvas := newCanvas(total, height+maps.Y)
	all := draw.New(canvas)
	drawTitle(all, p.Title)
	if err := p.drawPanels(draw.Crop(all, 0, width-total, maps.Y, -titleRoom)); err != nil {
		return err
	}
	if maps.Y > 0 {
		below := draw.Crop(all, (total-maps.X)/2, (maps.X-total)/2, 0, maps.Y-all.Max.Y)
		drawTitle(below, p.Maps.Title)
		p.Maps.drawOn(draw.Crop(below, 0, 0, 0, -titleRoom))
	}
	return writeQuickPNG(w, canvas)
}

// drawPanels draws the panels in rows and the legend.
func (p Page) drawPanels(c draw.Canvas) error {
	var plots [][]*plot.Plot
	for pair := range slices.Chunk(p.Panels, 2) {
		row := make([]*plot.Plot, 2)
		for i, panel := range pair {
			drawn, err := panel.plot()
			if err != nil {
				return err
			}
			row[i] = drawn
		}
		plots = append(plots, row)
	}
	legend := plots[0][0].Legend
	body := draw.Crop(c, 0, -legendWidth, 0, 0)
	tiles := draw.Tiles{Rows: len(plots), Cols: 2, PadX: 14, PadY: 10, PadLeft: 10, PadRight: 6, PadBottom: 6}
	for r, row := range plot.Align(plots, tiles, body) {
		for i, tile := range row {
			if drawn := plots[r][i]; drawn != nil {
				drawn.Legend = plot.NewLegend()
				drawn.Draw(tile)
			}
		}
	}
	legend.Left, legend.YOffs = true, vg.Points(-20)
	legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-legendWidth, 0, 0, 0))
	return nil
}

// plot returns the plot of the panel.
func (p Panel) plot() (*plot.Plot, error) {
	var curves []Curve
	for _, c := range p.Curves {
		if p.Log {
			c.Points = slices.DeleteFunc(slices.Clone(c.Points), func(p plotter.XY) bool { return !(p.Y >= leastLog) })
		}
		if len(c.Points) > 0 {
			curves = append(curves, c)
		}
	}
	drawn, err := plotOf(p.Title, cmp.Or(p.X, "step"), p.Y, curves)
	if err != nil {
		return nil, err
	}
	drawn.Title.TextStyle.Font.Size = 11
	drawn.X.Min = 0
	drawn.X.Tick.Marker, drawn.Y.Tick.Marker = plot.TickerFunc(stepTicks), plot.TickerFunc(stepTicks)
	switch {
	case p.Log && len(curves) > 0:
		drawn.Y.Scale, drawn.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
		if drawn.Y.Max <= drawn.Y.Min {
			drawn.Y.Min, drawn.Y.Max = drawn.Y.Min/2, drawn.Y.Max*2
		}
	case len(curves) > 0:
		drawn.Y.Min = min(drawn.Y.Min, 0)
		drawn.Y.Max = max(drawn.Y.Max*1.04, math.SmallestNonzeroFloat32)
	}
	return drawn, nil
}

// logTicks returns ticks at 1 to 9 times powers of 10, with labels at the powers and, if these are few, at 2 and 5.
func logTicks(from, to float64) (ticks []plot.Tick) {
	few := to < 1000*from
	for power := math.Floor(math.Log10(from)); power <= math.Log10(to); power++ {
		for digit := 1; digit <= 9; digit++ {
			v, err := strconv.ParseFloat(fmt.Sprintf("%de%.0f", digit, power), 64)
			if err != nil || v < from || v > to {
				continue
			}
			tick := plot.Tick{Value: v}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				tick.Label = strconv.FormatFloat(v, 'g', -1, 64)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}
