package plot

import (
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix is a heat map with a number in each cell, row 0 on top. White is 0, blue positive, orange
// negative. A number of −∞ is a hidden score: its cell is grey.
type Matrix struct {
	Title   string   // a line above the matrix
	Text    string   // below the title, in lines as wide as the matrix
	Rows    []string // labels, one a row; nil for none
	Columns []string
	Values  [][]float64
	Follows bool // an arrow leads here from the previous matrix
}

// Matrices is a picture of steps, from left to right and down.
type Matrices struct {
	Title string
	Steps []Matrix
}

// Sizes in points.
const (
	pageWidth    = 700
	cellHeight   = 17
	numberSize   = 8
	stepGap      = 34 // between matrices, with room for an arrow
	stepTitle    = 16 // above a matrix
	textLine     = 11 // below its title
	leastWidth   = 190
	columnsRoom  = 15 // for labels of columns
	pageMargin   = 14
	mostNumbered = 24 // columns whose cells have numbers
)

// Write writes the steps as a PNG.
func (m Matrices) Write(w io.Writer) error {
	places, height := m.layout()
	title := textStyle(titleSize)
	width := textWidth(title, m.Title) + 2*pageMargin
	for i, at := range places {
		width = max(width, at.X+m.Steps[i].width()+stepGap)
	}
	canvas := newCanvas(width, height)
	c := draw.New(canvas)
	fillText(c, title, vg.Point{X: width / 2, Y: height - titleRoom/2}, m.Title)
	for i, step := range m.Steps {
		at := vg.Point{X: places[i].X, Y: height - places[i].Y}
		step.draw(c, at)
		if step.Follows {
			arrow(c, at.Add(vg.Point{X: -stepGap + 8, Y: -step.above() - step.height()/2}))
		}
	}
	return writePNG(w, canvas)
}

// layout returns the upper left corner of each step, measured from the top of the page, and the page's height.
func (m Matrices) layout() (places []vg.Point, height vg.Length) {
	x, y, row := vg.Length(stepGap), vg.Length(titleRoom), vg.Length(0)
	for i, s := range m.Steps {
		if i > 0 && x+s.width()+pageMargin > pageWidth {
			x, y, row = stepGap, y+row, 0
		}
		places = append(places, vg.Point{X: x, Y: y})
		x += s.width() + stepGap
		row = max(row, s.above()+s.height()+pageMargin)
	}
	return places, y + row
}
