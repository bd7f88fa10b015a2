package plot

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// MaxHeatMaps is the number of maps that a picture has room for, unless it says how many are beside one another.
const MaxHeatMaps = 16

// HeatMap is a picture of a matrix of weights: row 0 on top, column 0 on the left. A weight that is NaN is hidden by a
// mask: its cell is grey.
type HeatMap struct {
	Title   string
	Columns []string // labels, one a column
	Rows    []string // labels, one a row
	Values  []float64
}

// HeatMaps holds maps of one shape, drawn in a grid in one scale of colours, which begins at 0.
type HeatMaps struct {
	Title  string
	Maps   []HeatMap // the first MaxHeatMaps are drawn, or all with Across
	X, Y   string    // labels of the axes
	Scale  string    // label of the scale of colours
	Across int       // maps beside one another; 0 means as many as come nearest to a page
	Signed bool      // whether weights may be negative: then 0 is in the middle of the scale
}

// Sizes in points.
const (
	labelSize = 8   // of the font of rows and columns
	mapSide   = 340 // of the longer side of a map
	gridSide  = 920 // at most, of all maps beside one another
	mapMargin = 24  // beside a map and below it, for labels
	mapTitle  = 26  // above it
	axisRoom  = 26  // for the label of an axis
	barRoom   = 92  // for the scale
	titleRoom = 34
)

// Write writes the maps as a PNG, with the scale of colours on the right.
func (m HeatMaps) Write(w io.Writer) error {
	if m.Across == 0 {
		m.Maps = m.Maps[:min(len(m.Maps), MaxHeatMaps)]
	}
	width, height := m.size()
	total := max(width, newPlot("", "", "").Title.TextStyle.Width(m.Title)+2*mapMargin)
	canvas := vgimg.New(total, height+titleRoom)
	all := draw.New(canvas)
	drawTitle(all, m.Title)
	left := (total - width) / 2
	if err := m.drawOn(draw.Crop(all, left, -left, 0, -titleRoom)); err != nil {
		return err
	}
	if m.Across > 0 { // many maps
		return writeQuickPNG(w, canvas)
	}
	return WritePNG(w, canvas)
}

// size returns the size of the maps with the scale of colours, without the title.
func (m HeatMaps) size() (width, height vg.Length) {
	cols, rows, mapWidth, mapHeight := m.grid()
	return axisRoom + vg.Length(cols)*(mapWidth+mapMargin) + barRoom,
		axisRoom + vg.Length(rows)*(mapHeight+mapTitle+mapMargin)
}

// drawTitle writes the title of a picture on top of its canvas.
func drawTitle(c draw.Canvas, text string) {
	title := newPlot("", "", "").Title.TextStyle
	title.XAlign, title.YAlign = draw.XCenter, draw.YCenter
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - titleRoom/2}, text)
}

// drawOn draws the maps and, on the right, the scale of colours on a canvas of their size.
func (m HeatMaps) drawOn(c draw.Canvas) error {
	ends := []float64{1, 2, 5, 10}
	if m.Signed {
		ends = []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10}
	}
	top, hidden := scaleTop(m.Maps, ends)
	colors, err := whiteToBlue(top)
	if m.Signed {
		colors, err = blueToRed(top), nil
	}
	if err != nil {
		return err
	}
	if hidden {
		m.X += " (grey: hidden by the mask)"
	}
	cols, rows, width, _ := m.grid()
	m.draw(draw.Crop(c, 0, -barRoom, 0, 0), cols, rows, width, colors)
	scale := newPlot("", "", m.Scale)
	scale.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})
	scale.HideX()
	scale.Draw(draw.Crop(c, c.Max.X-c.Min.X-barRoom+14, -10, axisRoom+mapMargin-8, -mapTitle+4))
	return nil
}

// draw draws the maps in rows and columns. Those at the left and the lower end have the labels of the axes.
func (m HeatMaps) draw(c draw.Canvas, cols, rows int, width vg.Length, colors palette.ColorMap) {
	plots := make([][]*plot.Plot, rows)
	for i := range rows * cols {
		var p *plot.Plot
		if i < len(m.Maps) {
			x, y := "", ""
			if i%cols == 0 {
				y = m.Y
			}
			if i+cols >= len(m.Maps) {
				x = m.X
			}
			h := m.Maps[i]
			p = h.plot(x, y, colors, labelEvery(width/vg.Length(len(h.Columns))))
		}
		plots[i/cols] = append(plots[i/cols], p)
	}
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 10, PadY: 6, PadBottom: 4, PadLeft: 4}
	for r, row := range plot.Align(plots, tiles, c) {
		for i, tile := range row {
			if p := plots[r][i]; p != nil {
				p.Draw(tile)
			}
		}
	}
}

// grid returns the numbers of maps beside and below one another that come nearest to a page, and the size of a map.
// Its cells are squares unless it is much wider than high.
func (m HeatMaps) grid() (cols, rows int, width, height vg.Length) {
	n, across, down := len(m.Maps), float64(len(m.Maps[0].Columns)), float64(len(m.Maps[0].Rows))
	aspect := min(max(down/across, 0.65), 2) // height to width
	side := math.Inf(1)
	for c := 1; c <= n; c++ {
		if m.Across > 0 && c != min(m.Across, n) {
			continue
		}
		r := (n + c - 1) / c
		if s := max(float64(c)/1.3, float64(r)*aspect); s < side {
			cols, rows, side = c, r, s
		}
	}
	longer := min(mapSide, gridSide/vg.Length(cols))
	if aspect <= 1 {
		return cols, rows, longer, longer * vg.Length(aspect)
	}
	return cols, rows, longer / vg.Length(aspect), longer
}

// labelEvery returns k for cells of a side in which every k-th label has room.
func labelEvery(side vg.Length) int { return int(math.Ceil(float64(labelSize / side))) }

// scaleTop returns the end of the scale, one of ends times a power of 10, as 1, 0.5, 0.2, 0.1, … so that most pictures
// have the same, and reports whether a cell is hidden.
func scaleTop(maps []HeatMap, ends []float64) (top float64, hidden bool) {
	largest := 0.01 // a scale cannot be empty
	for _, h := range maps {
		for _, v := range h.Values {
			if math.IsNaN(v) {
				hidden = true
			} else {
				largest = max(largest, math.Abs(v))
			}
		}
	}
	decade := math.Pow(10, math.Floor(math.Log10(largest)))
	for _, top = range ends {
		if top *= decade; top*(1+1e-6) >= largest {
			break
		}
	}
	return top, hidden
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
	var columns, rows []plot.Tick
	for i := 0; i < len(h.Columns); i += k {
		columns = append(columns, plot.Tick{Value: float64(i), Label: h.Columns[i]})
	}
	for i := 0; i < len(h.Rows); i += k {
		rows = append(rows, plot.Tick{Value: float64(len(h.Rows) - 1 - i), Label: h.Rows[i]})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(columns), plot.ConstantTicks(rows)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = labelSize
		axis.Tick.Length, axis.LineStyle.Width = 0, 0
		axis.Padding = vg.Points(2)
	}
	return p
}

// hiddenGrey is the colour of a cell that a mask hides.
var hiddenGrey = color.NRGBA{R: 0xc8, G: 0xc8, B: 0xc8, A: 0xff}

// whiteToBlue returns colours for the numbers from 0 to top, whose lightness falls evenly; white is 0.
func whiteToBlue(top float64) (palette.ColorMap, error) {
	darkToLight, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{R: 0x08, G: 0x30, B: 0x6b, A: 0xff}, color.NRGBA{R: 0x3b, G: 0x8b, B: 0xc4, A: 0xff}, color.White})
	if err != nil {
		return nil, err
	}
	darkToLight.SetMax(top)
	return palette.Reverse(darkToLight), nil
}

// blueToRed returns colours for the numbers from -top to top: blue, white in the middle, red.
func blueToRed(top float64) palette.ColorMap {
	colors := moreland.SmoothBlueRed()
	colors.SetMin(-top)
	colors.SetMax(top)
	return colors
}

// HasGlyph reports whether the font of labels has a glyph for c.
func HasGlyph(c rune) bool {
	sans := font.DefaultCache.Lookup(newPlot("", "", "").X.Tick.Label.Font, labelSize).Face
	glyph, err := sans.GlyphIndex(nil, c)
	return err == nil && glyph != 0
}

// grid is a matrix in row-major order as gonum's GridXYZ, whose rows go up.
type grid struct {
	cols   int
	values []float64
}

func (g grid) Dims() (cols, rows int) { return g.cols, len(g.values) / g.cols }
func (g grid) X(c int) float64        { return float64(c) }
func (g grid) Y(r int) float64        { return float64(r) }
func (g grid) Z(c, r int) float64     { return g.values[len(g.values)-(r+1)*g.cols+c] }
