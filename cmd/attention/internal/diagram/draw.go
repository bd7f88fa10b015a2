package diagram

import (
	"image/color"
	"io"

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
func (d Diagram) Write(w io.Writer) error {
	label, shape, title := plot.TextStyle(labelSize), plot.TextStyle(shapeSize), plot.TextStyle(13)
	widths, in := make([]float64, len(d.Nodes)), make([][]int, len(d.Nodes))
	for i, n := range d.Nodes {
		text := max(plot.TextWidth(label, n.Label), plot.TextWidth(shape, n.Shape))
		widths[i], in[i] = float64(text)+2*boxMargin, n.In
	}
	l := newLayout(widths, in)
	left, right := l.ends()
	const keyWidth = 3 * 76
	width := max(vg.Length(right-left), plot.TextWidth(title, d.Title), keyWidth) + 2*margin
	height := titleRoom + vg.Length(len(l.order))*(boxHeight+gapY) - gapY + keyRoom + margin
	canvas := vgimg.New(width, height)
	c := draw.New(canvas)
	plot.FillText(c, title, vg.Point{X: width / 2, Y: height - titleRoom/2}, d.Title)
	middle := vg.Point{X: (width - vg.Length(left+right)) / 2, Y: height - titleRoom - margin/2 - boxHeight/2}
	at := func(i int) vg.Point {
		return middle.Add(vg.Point{X: vg.Length(l.nodes[i].x), Y: -vg.Length(l.nodes[i].layer) * (boxHeight + gapY)})
	}
	for _, path := range l.paths {
		edge(c, path, len(d.Nodes), at)
	}
	for i, n := range d.Nodes {
		box(c, at(i), vg.Point{X: vg.Length(widths[i]), Y: boxHeight}, colors[n.Kind])
		plot.FillText(c, label, at(i).Add(vg.Point{Y: 6}), n.Label)
		plot.FillText(c, shape, at(i).Sub(vg.Point{Y: 7}), n.Shape)
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

// edge draws an edge through the places of nodes, from the lower side of a box to the upper side of another, with an
// arrowhead at its end. The first nodes are boxes.
func edge(c draw.Canvas, path []int, boxes int, at func(node int) vg.Point) {
	var line vg.Path
	half := vg.Point{Y: boxHeight / 2}
	from := at(path[0]).Sub(half)
	line.Move(from)
	for _, i := range path[1:] {
		to := at(i)
		if i < boxes {
			to = to.Add(half)
		}
		bend := vg.Point{Y: (from.Y - to.Y) / 2}
		line.CubeTo(from.Sub(bend), to.Add(bend), to)
		from = to
	}
	grey := color.Gray{Y: 0x60}
	c.SetLineStyle(draw.LineStyle{Color: grey, Width: 0.9})
	c.Stroke(line)
	c.FillPolygon(grey, []vg.Point{from, from.Add(vg.Point{X: -2.5, Y: 5}), from.Add(vg.Point{X: 2.5, Y: 5})})
}
