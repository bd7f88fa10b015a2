package plot

import (
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MaxHeatMaps is the largest number of maps in a picture without Across.
const MaxHeatMaps = 16

// HeatMap is a picture of a matrix of weights, with row 0 on top and column 0 on the left. NaN stands for a weight that
// a mask hides: its cell is grey.
type HeatMap struct {
	Title   string
	Columns []string // labels, one a column
	Rows    []string // labels, one a row
	Values  []float64
}

// HeatMaps is a picture of maps of one shape in a grid. They share one scale of colours, which begins at 0.
type HeatMaps struct {
	Title  string
	Maps   []HeatMap // the first MaxHeatMaps are drawn, or all with Across
	X, Y   string    // labels of the axes
	Scale  string    // label of the scale of colours
	Across int       // maps in a row of the grid, with the same rows; 0 means a number that gives the shape of a page
	Signed bool      // whether weights may be negative: then 0 is in the middle of the scale
}

// Sizes in points.
const (
	labelSize = 8   // of the font of rows and columns
	mapSide   = 340 // of the longer side of a map
	gridSide  = 920 // largest width of all maps in a row of the grid
	mapMargin = 24  // at the left of a map and below it, for labels
	mapTitle  = 26  // above it
	axisRoom  = 26  // for the label of an axis
	barRoom   = 92  // for the scale
	titleRoom = 34
)

// Write writes the maps and, on their right, the scale of colours as a PNG.
func (m HeatMaps) Write(w io.Writer) error {
	if m.Across == 0 {
		m.Maps = m.Maps[:min(len(m.Maps), MaxHeatMaps)]
	}
	_, size := m.layout()
	total := max(size.X, textStyle(titleSize).Width(m.Title)+2*mapMargin)
	canvas := newCanvas(total, size.Y+titleRoom)
	all := draw.New(canvas)
	drawTitle(all, m.Title)
	left := (total - size.X) / 2
	m.drawOn(draw.Crop(all, left, -left, 0, -titleRoom))
	if m.Across > 0 { // many maps
		return writeQuickPNG(w, canvas)
	}
	return writePNG(w, canvas)
}

// layout returns the position of each map's data, relative to the upper left corner of all maps and the scale of
// colours, and the total size.
func (m HeatMaps) layout() (maps []vg.Rectangle, size vg.Point) {
	cols, width, height := m.grid()
	rowLabel, columnLabel := m.labelRoom()
	var at vg.Point
	for i := range m.Maps {
		if i%cols == 0 {
			at = vg.Point{X: axisRoom, Y: -size.Y - mapTitle - height}
			size.Y += mapTitle + height + mapMargin
			if m.columnsAt(i, cols) {
				size.Y += columnLabel
			}
		}
		if m.rowsAt(i, cols) {
			at.X += rowLabel
		}
		at.X += mapMargin
		maps = append(maps, vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: width, Y: height})})
		at.X += width
		size.X = max(size.X, at.X+barRoom)
	}
	return maps, size.Add(vg.Point{Y: axisRoom})
}

// drawTitle draws the title of a picture at the top of its canvas.
func drawTitle(c draw.Canvas, text string) {
	c.FillText(textStyle(titleSize), vg.Point{X: c.Center().X, Y: c.Max.Y - titleRoom/2}, text)
}

// drawOn draws the maps and, on their right, the scale of colours on a canvas of their size.
func (m HeatMaps) drawOn(c draw.Canvas) {
	colors, hidden := m.colors()
	if hidden {
		m.X += " (grey: hidden by the mask)"
	}
	m.draw(c, colors)
	scale := newPlot("", "", m.Scale)
	scale.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})
	scale.HideX()
	_, columnLabel := m.labelRoom()
	scale.Draw(draw.Crop(c, c.Max.X-c.Min.X-barRoom+14, -10, axisRoom+mapMargin-8+columnLabel, -mapTitle+4))
}

// draw draws the maps at their places. Only maps at the left and lower edges have labels of the axes. With Across, only
// these maps have labels of rows and columns, which are the same in all maps.
func (m HeatMaps) draw(c draw.Canvas, colors palette.ColorMap) {
	cols, width, _ := m.grid()
	places, _ := m.layout()
	for i, h := range m.Maps {
		x, y := "", ""
		if i%cols == 0 {
			y = m.Y
		}
		if i+cols >= len(m.Maps) {
			x = m.X
		}
		every := labelEvery(width / vg.Length(len(h.Columns)))
		if !m.rowsAt(i, cols) {
			h.Rows = make([]string, len(h.Rows))
		}
		if !m.columnsAt(i, cols) {
			h.Columns = make([]string, len(h.Columns))
		}
		corner := vg.Point{X: c.Min.X, Y: c.Max.Y}
		p := h.plot(x, y, colors, every)
		p.Draw(around(p, c, vg.Rectangle{Min: corner.Add(places[i].Min), Max: corner.Add(places[i].Max)}))
	}
}

// around returns the part of a canvas on which the plot's data fills a rectangle.
func around(p *plot.Plot, c draw.Canvas, data vg.Rectangle) draw.Canvas {
	c.Rectangle = data
	for range 3 { // labels at the ends may need more space if it is smaller
		got := p.DataCanvas(c).Rectangle
		c.Min, c.Max = c.Min.Add(data.Min.Sub(got.Min)), c.Max.Add(data.Max.Sub(got.Max))
	}
	return c
}

// grid returns the number of columns of the grid whose shape is nearest to a page, and the size of a map. Cells are
// squares unless a map is much wider than high.
func (m HeatMaps) grid() (cols int, width, height vg.Length) {
	n, across, down := len(m.Maps), float64(len(m.Maps[0].Columns)), float64(len(m.Maps[0].Rows))
	aspect := min(max(down/across, 0.65), 2) // height to width
	side, least, most := math.Inf(1), 1, n
	if m.Across > 0 {
		least, most = min(m.Across, n), min(m.Across, n)
	}
	for c := least; c <= most; c++ {
		r := (n + c - 1) / c
		if s := max(float64(c)/1.3, float64(r)*aspect); s < side {
			cols, side = c, s
		}
	}
	longer := min(mapSide, gridSide/vg.Length(cols))
	if aspect <= 1 {
		return cols, longer, longer * vg.Length(aspect)
	}
	return cols, longer / vg.Length(aspect), longer
}

// plot returns the map with every k-th of its labels.
func (h HeatMap) plot(x, y string, colors palette.ColorMap, k int) *plot.Plot {
	p := newPlot(h.Title, x, y)
	p.Title.TextStyle.Font.Size, p.Title.Padding = 11, vg.Points(4)
	heat := plotter.NewHeatMap(grid{len(h.Columns), h.Values}, colors.Palette(256))
	heat.Min, heat.Max = colors.Min(), colors.Max()
	heat.NaN = hiddenGrey
	heat.Underflow, heat.Overflow = heat.Palette.Colors()[0], heat.Palette.Colors()[255] // by rounding
	p.Add(heat)
	h.label(p, k)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = labelSize
		axis.Tick.Length, axis.LineStyle.Width = 0, 0
		axis.Padding = vg.Points(2)
	}
	return p
}

// grid is a matrix in row-major order as gonum's GridXYZ, in which row 0 is the lowest.
type grid struct {
	cols   int
	values []float64
}

func (g grid) Dims() (cols, rows int) { return g.cols, len(g.values) / g.cols }
func (g grid) X(c int) float64        { return float64(c) }
func (g grid) Y(r int) float64        { return float64(r) }
func (g grid) Z(c, r int) float64     { return g.values[len(g.values)-(r+1)*g.cols+c] }
