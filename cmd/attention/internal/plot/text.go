package plot

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// TextLine is one line of a plot in letters.
type TextLine struct {
	Mark byte // its letter, one column wide
	Name string
	Y    []float64 // one for each x, from 0 to 100
}

// textRows is the number of steps of a plot in letters from 0 to 100.
const textRows = 10

// Text returns a plot in letters for a terminal of 80 columns: of lines over at most 36 whole numbers x, with two
// columns for each x. An asterisk marks where lines meet.
func Text(x []int, lines []TextLine, label string) string {
	var rows [textRows + 1][]byte
	for row := range rows {
		rows[row] = bytes.Repeat([]byte(" "), 2*len(x))
	}
	for _, l := range lines {
		for i, y := range l.Y {
			cell := &rows[int(y/100*textRows+0.5)][2*i+1]
			if *cell == ' ' {
				*cell = l.Mark
			} else {
				*cell = '*'
			}
		}
	}
	var b strings.Builder
	for row, cells := range slices.Backward(rows[:]) {
		fmt.Fprintf(&b, "%5d |%s\n", 100*row/textRows, bytes.TrimRight(cells, " "))
	}
	fmt.Fprintf(&b, "%5s +%s\n", "", strings.Repeat("-", 2*len(x)))
	b.WriteString(textAxis(x, label))
	fmt.Fprintf(&b, "%7s", "")
	for _, l := range lines {
		fmt.Fprintf(&b, "%c %s   ", l.Mark, l.Name)
	}
	b.WriteString("* more than one\n")
	return b.String()
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
