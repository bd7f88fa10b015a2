package plot

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// height returns the height of all cells.
func (s Matrix) height() vg.Length { return vg.Length(len(s.Values)) * cellHeight }

// above returns the height of title, text and labels of columns.
func (s Matrix) above() vg.Length {
	return stepTitle + textLine*vg.Length(len(s.lines())) + columnsRoom
}

// width returns the width of the matrix with its labels, or of its title if that is wider.
func (s Matrix) width() vg.Length {
	style := textStyle(10)
	return max(s.labels()+s.cell()*vg.Length(len(s.Values[0])), textWidth(style, s.Title), leastWidth)
}

// lines returns the text in lines as wide as the matrix.
func (s Matrix) lines() (lines []string) {
	style, line := textStyle(numberSize), ""
	for _, word := range strings.Fields(s.Text) {
		if longer := strings.TrimSpace(line + " " + word); textWidth(style, longer) <= s.width() {
			line = longer
			continue
		}
		lines, line = append(lines, line), word
	}
	return append(lines, line)
}

// labels returns the width of the labels of rows.
func (s Matrix) labels() (width vg.Length) {
	style := textStyle(numberSize)
	for _, label := range s.Rows {
		width = max(width, textWidth(style, label)+5)
	}
	return width
}

// cell returns the width of a cell, which fits all numbers and labels of columns.
func (s Matrix) cell() vg.Length {
	style := textStyle(numberSize)
	width := vg.Length(12)
	for _, label := range s.Columns {
		width = max(width, min(textWidth(style, label)+5, 60))
	}
	for _, row := range s.Values {
		for _, v := range row {
			width = max(width, textWidth(style, s.number(v))+6)
		}
	}
	return width
}

// number returns the text of a cell: four digits as PyTorch prints them, two in a wide matrix, none in a very wide one.
func (s Matrix) number(v float64) string {
	columns, digits := len(s.Values[0]), 4
	switch {
	case columns > mostNumbered:
		return ""
	case v == 0: // −0 too
		return "0"
	case columns > 8:
		digits = 2
	}
	const rounding = 5e-7 // a sum of weights is 1 up to this
	if whole := math.Round(v); whole != 0 && math.Abs(v-whole) < rounding && math.Abs(v) < 1000 {
		v = whole
	}
	if math.IsInf(v, 0) || math.IsNaN(v) || v == math.Trunc(v) && math.Abs(v) < 1000 {
		return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), "Inf", "inf", 1)
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// draw draws the matrix with its upper left corner at a point.
func (s Matrix) draw(c draw.Canvas, at vg.Point) {
	title, below := textStyle(10), textStyle(numberSize)
	title.XAlign, below.XAlign = draw.XLeft, draw.XLeft
	fillText(c, title, at.Sub(vg.Point{Y: stepTitle / 2}), s.Title)
	below.Color = color.Gray{Y: 0x60}
	for i, line := range s.lines() {
		fillText(c, below, at.Sub(vg.Point{Y: stepTitle + textLine*vg.Length(i) + textLine/2.0}), line)
	}

	largest := s.largest()
	label := textStyle(numberSize)
	origin := at.Add(vg.Point{X: s.labels(), Y: -s.above()})
	width := s.cell()
	for j, name := range s.Columns {
		fillText(c, label, origin.Add(vg.Point{X: width * (vg.Length(j) + 0.5), Y: columnsRoom / 2}),
			cut(name, label, width))
	}
	right := label
	right.XAlign = draw.XRight
	for i, row := range s.Values {
		y := origin.Y - cellHeight*vg.Length(i+1)
		if i < len(s.Rows) {
			fillText(c, right, vg.Point{X: origin.X - 4, Y: y + cellHeight/2}, s.Rows[i])
		}
		for j, v := range row {
			x := origin.X + width*vg.Length(j)
			fill, text := cellColors(v, largest)
			corner := vg.Point{X: x, Y: y}
			box(c, vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: width, Y: cellHeight})}, fill,
				draw.LineStyle{Color: color.Gray{Y: 0xd8}, Width: 0.4})
			number := label
			number.Color = text
			fillText(c, number, vg.Point{X: x + width/2, Y: y + cellHeight/2}, s.number(v))
		}
	}
}

// largest returns the end of the scale. It is 1 if all numbers are from 0 to 1, as weights are, so that colours mean
// the same in all matrices; otherwise it is the largest absolute value.
func (s Matrix) largest() (largest float64) {
	shares := true
	for _, row := range s.Values {
		for _, v := range row {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				largest = max(largest, math.Abs(v))
				shares = shares && v >= 0 && v <= 1
			}
		}
	}
	if shares {
		return 1
	}
	return largest
}

// cellColors returns the colours of a cell and of its text for a number.
func cellColors(v, largest float64) (fill, text color.Color) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return hiddenGrey, color.Gray{Y: 0x50}
	}
	share := 0.0
	if largest > 0 {
		share = math.Pow(math.Abs(v)/largest, 0.75) * 0.85
	}
	end := color.NRGBA{R: 0x1f, G: 0x5f, B: 0xa8}
	if v < 0 {
		end = color.NRGBA{R: 0xd9, G: 0x6a, B: 0x12}
	}
	mix := func(to uint8) uint8 { return uint8(math.Round(255 + share*(float64(to)-255))) }
	cell := color.NRGBA{R: mix(end.R), G: mix(end.G), B: mix(end.B), A: 0xff}
	return cell, textOn(cell)
}

// textOn returns the colour of a number on a cell: white if its contrast is at least 3.5 by WCAG 2.1's
// relative luminance, as on dark blue but on no orange, else black.
func textOn(cell color.NRGBA) color.Color {
	linear := func(v uint8) float64 { return math.Pow((float64(v)/255+0.055)/1.055, 2.4) }
	luminance := 0.2126*linear(cell.R) + 0.7152*linear(cell.G) + 0.0722*linear(cell.B)
	if 1.05/(luminance+0.05) >= 3.5 {
		return color.White
	}
	return color.Black
}

// cut returns a label, shortened to fit its room.
func cut(label string, style draw.TextStyle, room vg.Length) string {
	letters := []rune(label)
	for n := len(letters); n > 0; n-- {
		short := string(letters[:n])
		if n < len(letters) {
			short += "…"
		}
		if textWidth(style, short) <= room {
			return short
		}
	}
	return ""
}

// arrow draws an arrow that begins at a point and leads to the right.
func arrow(c draw.Canvas, from vg.Point) {
	to := from.Add(vg.Point{X: stepGap - 16})
	c.StrokeLine2(draw.LineStyle{Color: color.Gray{Y: 0x40}, Width: 1.2}, from.X, from.Y, to.X, to.Y)
	tip := []vg.Point{to.Add(vg.Point{X: 3}), to.Add(vg.Point{X: -3, Y: 3}), to.Add(vg.Point{X: -3, Y: -3})}
	c.FillPolygon(color.Gray{Y: 0x40}, tip)
}
