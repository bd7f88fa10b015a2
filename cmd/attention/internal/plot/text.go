package plot

import (
	"fmt"
	"strings"
)

// TextLine is one line of a plot in letters.
type TextLine struct {
	Mark byte // its letter, one column wide
	Name string
	Y    []float64 // one for each x, from 0
}

// textRows is the number of steps of a plot in letters from 0 to its top.
const textRows = 10

// Text returns a plot in letters for a terminal of 80 columns: of lines over at most 36 whole numbers x, with two
// columns for each x. y goes from 0 to top. An asterisk stands where lines meet.
func Text(x []int, lines []TextLine, top float64, label string) string {
	var b strings.Builder
	for row := textRows; row >= 0; row-- {
		fmt.Fprintf(&b, "%5.0f |", top*float64(row)/textRows)
		cells := make([]byte, 2*len(x))
		for i := range x {
			cells[2*i], cells[2*i+1] = ' ', textCell(lines, i, row, top)
		}
		b.WriteString(strings.TrimRight(string(cells), " ") + "\n")
	}
	fmt.Fprintf(&b, "%5s +%s\n", "", strings.Repeat("-", 2*len(x)))
	b.WriteString(textAxis(x, label))
	fmt.Fprintf(&b, "%7s", "")
	for i, l := range lines {
		if i > 0 {
			b.WriteString("   ")
		}
		fmt.Fprintf(&b, "%c %s", l.Mark, l.Name)
	}
	b.WriteString("   * more than one\n")
	return b.String()
}

// textCell returns the letter of the lines at x number i in a row.
func textCell(lines []TextLine, i, row int, top float64) byte {
	cell := byte(' ')
	for _, l := range lines {
		switch at := int(l.Y[i]/top*textRows + 0.5); {
		case at == row && cell != ' ':
			cell = '*'
		case at == row:
			cell = l.Mark
		}
	}
	return cell
}

// textAxis returns the numbers below a plot, those that are multiples of 5, and their label.
func textAxis(x []int, label string) string {
	axis := []byte(strings.Repeat(" ", 7+2*len(x)+2))
	for i, n := range x {
		if n%5 == 0 {
			text := fmt.Sprint(n)
			copy(axis[7+2*i+2-len(text):], text)
		}
	}
	return strings.TrimRight(string(axis), " ") + "\n" + fmt.Sprintf("%7s%s\n", "", label)
}
