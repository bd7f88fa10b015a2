package plot

import (
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// MaxHeatMaps is the number of maps that a picture has room for.
const MaxHeatMaps = 16

const labelSize = 8 // points

// HeatMap is a picture of a matrix of weights, none negative: row 0 on top, column 0 on the left.
type HeatMap struct {
	Title   string
	Columns []string // labels, one a column
	Rows    []string // labels, one a row
	Values  []float64
}

// HeatMaps holds maps of one shape, drawn beside one another in one scale of colours.
type HeatMaps struct {
	Maps          []HeatMap // the first MaxHeatMaps are drawn
	X, Y          string    // labels of the axes
	MaxColumns    int       // of maps; 0 means as near to a square as possible
	MinRows       int       // of maps for which the picture has room
	Width, Height vg.Length // of a map
}

// Write writes the maps as a PNG, with the scale of colours on the right.
func (m HeatMaps) Write(w io.Writer) error {
	top := 0.01 // a scale cannot be empty
	for _, h := range m.Maps {
		top = max(top, slices.Max(h.Values))
	}
	colors, err := whiteToBlue(top)
	if err != nil {
		return err
	}
	maps := m.Maps[:min(len(m.Maps), MaxHeatMaps)]
	cols := 1
	for cols*cols < len(maps) {
		cols++
	}
	if m.MaxColumns > 0 {
		cols = min(len(maps), m.MaxColumns)
	}
	rows := (len(maps) + cols - 1) / cols
	const bar = 0.9 * vg.Inch
	canvas := vgimg.New(m.Width*vg.Length(cols)+bar, m.Height*vg.Length(max(rows, m.MinRows)))
	all := draw.New(canvas)
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 14, PadY: 14, PadTop: 8, PadBottom: 8, PadLeft: 8}
	for i, h := range maps {
		h.plot(m.X, m.Y, colors).Draw(tiles.At(draw.Crop(all, 0, -bar, 0, 0), i%cols, i/cols))
	}
	scale := newPlot("", "", "")
	scale.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})
	scale.HideX()
	scale.Draw(draw.Crop(all, m.Width*vg.Length(cols)+8, -8, 28, -28))
	return writePNG(w, canvas)
}

// plot returns the map with its labels.
func (h HeatMap) plot(x, y string, colors palette.ColorMap) *plot.Plot {
	p := newPlot(h.Title, x, y)
	heat := plotter.NewHeatMap(grid{len(h.Columns), h.Values}, colors.Palette(256))
	heat.Min, heat.Max = 0, colors.Max()
	p.Add(heat)
	var columns, rows []plot.Tick
	for i, label := range h.Columns {
		columns = append(columns, plot.Tick{Value: float64(i), Label: label})
	}
	for i, label := range h.Rows {
		rows = append(rows, plot.Tick{Value: float64(len(h.Rows) - 1 - i), Label: label})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(columns), plot.ConstantTicks(rows)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = labelSize
		axis.Tick.Length, axis.LineStyle.Width = 0, 0
	}
	return p
}

// whiteToBlue returns colours for the numbers from 0 to top; white is 0.
func whiteToBlue(top float64) (palette.ColorMap, error) {
	darkToLight, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{R: 0x08, G: 0x30, B: 0x6b, A: 0xff}, color.NRGBA{R: 0x3b, G: 0x8b, B: 0xc4, A: 0xff}, color.White})
	if err != nil {
		return nil, err
	}
	darkToLight.SetMax(top)
	return palette.Reverse(darkToLight), nil
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
