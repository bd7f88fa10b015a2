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

// FillText draws a line of text in which each letter has its full width. The font's kerning moves pairs such as 11, Yo
// and y. so close together that small letters touch.
func FillText(c draw.Canvas, style draw.TextStyle, at vg.Point, text string) {
	at.X += TextWidth(style, text) * vg.Length(style.XAlign)
	style.XAlign = draw.XLeft
	for _, letter := range text {
		c.FillText(style, at, string(letter))
		at.X += style.Width(string(letter))
	}
}
