package plot

import (
	"math"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rowsAt reports whether map i has labels of rows, and columnsAt whether it has labels of columns.
func (m HeatMaps) rowsAt(i, cols int) bool { return m.Across == 0 || i%cols == 0 }

func (m HeatMaps) columnsAt(i, cols int) bool {
	return m.Across == 0 || i+cols >= len(m.Maps) ||
		slices.ContainsFunc(m.Maps, func(h HeatMap) bool { return !slices.Equal(h.Columns, m.Maps[0].Columns) })
}

// labelRoom returns the space that the labels of rows and of columns need besides a map's margins.
func (m HeatMaps) labelRoom() (left, below vg.Length) {
	style := textStyle(labelSize)
	for _, h := range m.Maps {
		left = max(left, widest(style, h.Rows)-mapMargin/2)
		if isLong(h.Columns) {
			below = max(below, widest(style, h.Columns)-mapMargin/2)
		}
	}
	return left, below
}

// widest returns the width of the widest label.
func widest(style draw.TextStyle, labels []string) (width vg.Length) {
	for _, label := range labels {
		width = max(width, style.Width(label))
	}
	return width
}

// isLong reports whether labels of columns are too long to be drawn side by side: they are turned.
func isLong(labels []string) bool {
	return slices.ContainsFunc(labels, func(s string) bool { return utf8.RuneCountInString(s) > 3 })
}

// labelEvery returns the smallest k for which every k-th label fits at a cell width.
func labelEvery(side vg.Length) int { return int(math.Ceil(float64(labelSize / side))) }

// HasGlyph reports whether the font of labels has a glyph for c.
func HasGlyph(c rune) bool {
	sans := font.DefaultCache.Lookup(newPlot("", "", "").X.Tick.Label.Font, labelSize).Face
	glyph, err := sans.GlyphIndex(nil, c)
	return err == nil && glyph != 0
}

// label puts every k-th label on a plot of the map.
func (h HeatMap) label(p *plot.Plot, k int) {
	p.X.Tick.Marker = ticks(h.Columns, k, func(i int) int { return i })
	p.Y.Tick.Marker = ticks(h.Rows, k, func(i int) int { return len(h.Rows) - 1 - i })
	if isLong(h.Columns) {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

// ticks returns every k-th label at its place or, if some labels are empty, all labels that are not.
func ticks(labels []string, k int, place func(i int) int) (ticks plot.ConstantTicks) {
	some := slices.Contains(labels, "")
	for i, label := range labels {
		if label != "" && (some || i%k == 0) {
			ticks = append(ticks, plot.Tick{Value: float64(place(i)), Label: label})
		}
	}
	return ticks
}
