package term

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Columns is the largest width of help and reports.
const Columns = 80

// Fill returns a label and phrases on lines of at most Columns. Lines break between phrases and are indented like the
// first phrase. A longer phrase stays whole, so that a name in it can be copied. Blanks around phrases are dropped.
func Fill(label string, phrases ...string) string {
	var b strings.Builder
	indent := utf8.RuneCountInString(label)
	b.WriteString(label)
	column := indent
	for i, phrase := range phrases {
		phrase = strings.TrimSpace(phrase)
		n := utf8.RuneCountInString(phrase)
		switch {
		case i > 0 && column+1+n > Columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		case i > 0:
			b.WriteString(" ")
			column++
		}
		b.WriteString(phrase)
		column += n
	}
	return b.String() + "\n"
}

// Row returns a row of a table whose first column has a width. A longer name has a line of its own above the rest.
func Row(name string, width int, rest string) string {
	if utf8.RuneCountInString(name) > width {
		return fmt.Sprintf("%s\n%*s%s\n", name, width, "", rest)
	}
	return fmt.Sprintf("%-*s%s\n", width, name, rest)
}
