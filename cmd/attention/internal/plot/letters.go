package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TextWidth returns the width of a line of text that FillText draws.
func TextWidth(style draw.TextStyle, text string) (width vg.Length) {
	for _, letter := range text {
		width += style.Width(string(letter))
	}
	return width
}

// FillText draws a line of text with the full width of each letter. The font moves pairs as 11, Yo and y. together, so
// far that small ones touch.
func FillText(c draw.Canvas, style draw.TextStyle, at vg.Point, text string) {
	at.X += TextWidth(style, text) * vg.Length(style.XAlign)
	style.XAlign = draw.XLeft
	for _, letter := range text {
		c.FillText(style, at, string(letter))
		at.X += style.Width(string(letter))
	}
}
