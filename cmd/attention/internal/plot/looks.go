package plot

import (
	"image"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Looks is a picture cut into patches, with lines from patches to the patches that they look at. Each Look has a copy
// of the picture.
type Looks struct {
	Title         string
	Picture       image.Image
	Rows, Columns int // of patches
	Looks         []Look
}

// Look has the weights with which some patches look at all patches.
type Look struct {
	Title   string
	From    []int       // patches, row by row
	Weights [][]float64 // for each patch of From, one weight for each patch
}

// Sizes in points.
const (
	lookSide    = 190 // of a copy of the picture
	lookMargin  = 14
	lookTitle   = 16
	looksAcross = 4
	// lookLeast is the least weight that is drawn.
	lookLeast = 0.1
)

// Write writes the copies as a PNG. A line is as wide and as dark as its weight.
func (l Looks) Write(w io.Writer) error {
	across := min(len(l.Looks), looksAcross)
	down := (len(l.Looks) + across - 1) / across
	cellWidth, cellHeight := vg.Length(lookSide+lookMargin), vg.Length(lookSide+lookMargin+lookTitle)
	size := vg.Point{X: cellWidth*vg.Length(across) + lookMargin, Y: cellHeight*vg.Length(down) +
		titleRoom + lookMargin}
	canvas := vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(120))
	all := draw.New(canvas)
	drawTitle(all, l.Title)
	title := TextStyle(10)
	for i, look := range l.Looks {
		corner := vg.Point{X: lookMargin + cellWidth*vg.Length(i%across),
			Y: size.Y - titleRoom - cellHeight*vg.Length(i/across+1)}
		at := vg.Rectangle{Min: corner, Max: vg.Point{X: corner.X + lookSide, Y: corner.Y + lookSide}}
		all.DrawImage(at, enlarged(l.Picture, 8))
		all.FillText(title, vg.Point{X: corner.X + lookSide/2, Y: at.Max.Y + lookTitle/2}, look.Title)
		for k, from := range look.From {
			for to, weight := range look.Weights[k] {
				l.line(all, at, from, to, weight)
			}
		}
	}
	return WritePNG(w, canvas)
}

// line draws a line between the middles of two patches, with a dot at its end. A patch that looks at itself has only
// the dot.
func (l Looks) line(c draw.Canvas, at vg.Rectangle, from, to int, weight float64) {
	if weight < lookLeast {
		return
	}
	middle := func(patch int) vg.Point {
		size := at.Size()
		return vg.Point{X: at.Min.X + size.X*vg.Length((float64(patch%l.Columns)+0.5)/float64(l.Columns)),
			Y: at.Max.Y - size.Y*vg.Length((float64(patch/l.Columns)+0.5)/float64(l.Rows))}
	}
	ink := color.NRGBA{R: 0xb0, B: 0x60, A: uint8(55 + 200*math.Min(weight, 1))}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Length(0.5 + 2*weight)}, middle(from).X, middle(from).Y,
		middle(to).X, middle(to).Y)
	c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: vg.Length(1 + 2.5*weight), Shape: draw.CircleGlyph{}}, middle(to))
}

// enlarged returns the picture with a square for every pixel, so that drawing it blurs little.
func enlarged(p image.Image, times int) image.Image {
	b := p.Bounds()
	large := image.NewNRGBA(image.Rect(0, 0, b.Dx()*times, b.Dy()*times))
	for y := range b.Dy() * times {
		for x := range b.Dx() * times {
			large.Set(x, y, p.At(b.Min.X+x/times, b.Min.Y+y/times))
		}
	}
	return large
}
