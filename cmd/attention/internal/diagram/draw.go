package diagram

import (
	"image/color"
	"io"

	"attention/cmd/attention/internal/plot"
	"attention/internal/layered"

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
	gapX      = 14 // between boxes
	gapY      = 24
	titleRoom = 30
	keyRoom   = 26
)

// legend has what the colour of each kind of box means.
var legend = [...]struct {
	text string
	fill color.NRGBA
}{
	learnt: {"learnt", color.NRGBA{R: 0xfd, G: 0xc6, B: 0x7d, A: 0xff}},
	input:  {"input", color.NRGBA{R: 0xd3, G: 0xec, B: 0xd0, A: 0xff}},
	op:     {"op, fixed", color.NRGBA{R: 0xe3, G: 0xee, B: 0xf9, A: 0xff}},
}

// Write writes the diagram as a PNG.
func (d Diagram) Write(w io.Writer) error {
	label, shape, title := plot.TextStyle(labelSize), plot.TextStyle(shapeSize), plot.TextStyle(13)
	widths, in := make([]float64, len(d.nodes)), make([][]int, len(d.nodes))
	for i, n := range d.nodes {
		text := max(plot.TextWidth(label, n.label), plot.TextWidth(shape, n.shape))
		widths[i], in[i] = float64(text)+2*boxMargin, n.in
	}
	l := layered.New(widths, gapX, in)
	left, right := l.Ends()
	const keyWidth = 3 * 76
	width := max(vg.Length(right-left), plot.TextWidth(title, d.title), keyWidth) + 2*margin
	height := titleRoom + vg.Length(len(l.Layers))*(boxHeight+gapY) - gapY + keyRoom + margin
	canvas := vgimg.New(width, height)
	c := draw.New(canvas)
	plot.FillText(c, title, vg.Point{X: width / 2, Y: height - titleRoom/2}, d.title)
	middle := vg.Point{X: (width - vg.Length(left+right)) / 2, Y: height - titleRoom - margin/2 - boxHeight/2}
	at := func(i int) vg.Point {
		return middle.Add(vg.Point{X: vg.Length(l.Nodes[i].X), Y: -vg.Length(l.Nodes[i].Layer) * (boxHeight + gapY)})
	}
	for _, path := range l.Paths {
		edge(c, path, len(d.nodes), at)
	}
	for i, n := range d.nodes {
		box(c, at(i), vg.Point{X: vg.Length(widths[i]), Y: boxHeight}, legend[n.kind].fill)
		plot.FillText(c, label, at(i).Add(vg.Point{Y: 6}), n.label)
		plot.FillText(c, shape, at(i).Sub(vg.Point{Y: 7}), n.shape)
	}
	for i, k := range legend {
		at := vg.Point{X: (width-keyWidth)/2 + vg.Length(i)*76 + 10, Y: keyRoom / 2}
		box(c, at, vg.Point{X: 14, Y: 10}, k.fill)
		text := plot.TextStyle(shapeSize)
		text.XAlign = draw.XLeft
		plot.FillText(c, text, at.Add(vg.Point{X: 12}), k.text)
	}
	return plot.WritePNG(w, canvas)
}

// box draws a filled rectangle around a point.
func box(c draw.Canvas, center, size vg.Point, fill color.Color) {
	half := size.Scale(0.5)
	plot.Box(c, vg.Rectangle{Min: center.Sub(half), Max: center.Add(half)}, fill,
		draw.LineStyle{Color: color.Gray{Y: 0x70}, Width: 0.6})
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
