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

// FocusGrid is a picture cut into patches, with lines from patches to the patches that they attend to. Each Focus has a copy
// of the picture.
type FocusGrid struct {
	Title         string
	Picture       image.Image
	Rows, Columns int // of patches
	Heads         []Focus
}

// Focus has the weights with which some patches attend to all patches.
type Focus struct {
	Title   string
	From    []int       // patches, row by row
	Weights [][]float64 // for each patch of From, one weight for each patch
}

// Sizes in points.
const (
	focusSide   = 190 // of a copy of the picture
	focusMargin = 14
	focusTitle  = 16
	focusAcross = 4
	// focusLeast is the least weight that is drawn.
	focusLeast = 0.1
)

// Write writes the copies as a PNG. A line is as wide and as dark as its weight.
func (g FocusGrid) Write(w io.Writer) error {
	across := min(len(g.Heads), focusAcross)
	down := (len(g.Heads) + across - 1) / across
	cellWidth, cellHeight := vg.Length(focusSide+focusMargin), vg.Length(focusSide+focusMargin+focusTitle)
	size := vg.Point{X: cellWidth*vg.Length(across) + focusMargin, Y: cellHeight*vg.Length(down) +
		titleRoom + focusMargin}
	canvas := vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(120))
	all := draw.New(canvas)
	drawTitle(all, g.Title)
	title := textStyle(10)
	for i, focus := range g.Heads {
		corner := vg.Point{X: focusMargin + cellWidth*vg.Length(i%across),
			Y: size.Y - titleRoom - cellHeight*vg.Length(i/across+1)}
		at := vg.Rectangle{Min: corner, Max: vg.Point{X: corner.X + focusSide, Y: corner.Y + focusSide}}
		all.DrawImage(at, enlarged(g.Picture, 8))
		all.FillText(title, vg.Point{X: corner.X + focusSide/2, Y: at.Max.Y + focusTitle/2}, focus.Title)
		for k, from := range focus.From {
			for to, weight := range focus.Weights[k] {
				g.line(all, at, from, to, weight)
			}
		}
	}
	return writePNG(w, canvas)
}

// line draws a line between the middles of two patches, with a dot at its end. A patch that attends to itself has only
// the dot.
func (g FocusGrid) line(c draw.Canvas, at vg.Rectangle, from, to int, weight float64) {
	if weight < focusLeast {
		return
	}
	middle := func(patch int) vg.Point {
		size := at.Size()
		return vg.Point{X: at.Min.X + size.X*vg.Length((float64(patch%g.Columns)+0.5)/float64(g.Columns)),
			Y: at.Max.Y - size.Y*vg.Length((float64(patch/g.Columns)+0.5)/float64(g.Rows))}
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
