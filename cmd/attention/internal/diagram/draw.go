package diagram

import (
	"image/color"
	"io"
	"math"

	"attention/cmd/attention/internal/plot"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Sizes in points.
const (
	labelSize = 9
	shapeSize = 8
	boxHeight = 28
	boxMargin = 7 // on both sides of a label
	margin    = 14
	titleRoom = 30
	keyRoom   = 26
)

// colors are the colours of the boxes of each kind.
var colors = map[Kind]color.Color{
	Op:     color.NRGBA{R: 0xe3, G: 0xee, B: 0xf9, A: 0xff},
	Learnt: color.NRGBA{R: 0xfd, G: 0xc6, B: 0x7d, A: 0xff},
	Input:  color.NRGBA{R: 0xd3, G: 0xec, B: 0xd0, A: 0xff},
}

// key is the legend.
var key = []struct {
	kind Kind
	text string
}{{Learnt, "learnt"}, {Input, "input"}, {Op, "op, fixed"}}

// Write writes the diagram as a PNG.
func (d Diagram) Write(w io.Writer, layout Layout) error {
	label, shape, title := plot.TextStyle(labelSize), plot.TextStyle(shapeSize), plot.TextStyle(13)
	boxes, in := make([]vg.Point, len(d.Nodes)), make([][]int, len(d.Nodes))
	for i, n := range d.Nodes {
		boxes[i] = vg.Point{X: max(plot.TextWidth(label, n.Label), plot.TextWidth(shape, n.Shape)) + 2*boxMargin,
			Y: boxHeight}
		in[i] = n.In
	}
	placed, err := layout(boxes, in)
	if err != nil {
		return err
	}
	const keyWidth = 3 * 76
	width := max(placed.Size.X, plot.TextWidth(title, d.Title), keyWidth) + 2*margin
	canvas := vgimg.New(width, placed.Size.Y+titleRoom+keyRoom+margin)
	c := draw.New(canvas)
	plot.FillText(c, title, vg.Point{X: width / 2, Y: c.Max.Y - titleRoom/2}, d.Title)
	left := vg.Point{X: (width - placed.Size.X) / 2, Y: keyRoom + margin/2}
	for _, line := range placed.Lines {
		stroke(c, line, left)
	}
	for i, n := range d.Nodes {
		at := placed.Centers[i].Add(left)
		box(c, at, boxes[i], colors[n.Kind])
		plot.FillText(c, label, at.Add(vg.Point{Y: 6}), n.Label)
		plot.FillText(c, shape, at.Sub(vg.Point{Y: 7}), n.Shape)
	}
	for i, k := range key {
		at := vg.Point{X: (width-keyWidth)/2 + vg.Length(i)*76 + 10, Y: keyRoom / 2}
		box(c, at, vg.Point{X: 14, Y: 10}, colors[k.kind])
		text := plot.TextStyle(shapeSize)
		text.XAlign = draw.XLeft
		plot.FillText(c, text, at.Add(vg.Point{X: 12}), k.text)
	}
	return plot.WritePNG(w, canvas)
}

// box draws a filled rectangle around a point.
func box(c draw.Canvas, center, size vg.Point, fill color.Color) {
	half := size.Scale(0.5)
	from, to := center.Sub(half), center.Add(half)
	corners := []vg.Point{from, {X: to.X, Y: from.Y}, to, {X: from.X, Y: to.Y}, from}
	c.FillPolygon(fill, corners)
	c.StrokeLines(draw.LineStyle{Color: color.Gray{Y: 0x70}, Width: 0.6}, corners)
}

// stroke draws joined cubic curves, moved by a vector, with an arrowhead at their end.
func stroke(c draw.Canvas, line []vg.Point, by vg.Point) {
	var path vg.Path
	path.Move(line[0].Add(by))
	for i := 1; i+2 < len(line); i += 3 {
		path.CubeTo(line[i].Add(by), line[i+1].Add(by), line[i+2].Add(by))
	}
	c.SetLineStyle(draw.LineStyle{Color: color.Gray{Y: 0x60}, Width: 0.9})
	c.Stroke(path)
	end, before := line[len(line)-1].Add(by), line[len(line)-2].Add(by)
	back := before.Sub(end)
	back = back.Scale(5 / vg.Length(math.Hypot(float64(back.X), float64(back.Y))))
	side := vg.Point{X: -back.Y, Y: back.X}.Scale(0.5)
	c.FillPolygon(color.Gray{Y: 0x60}, []vg.Point{end, end.Add(back).Add(side), end.Add(back).Sub(side)})
}
