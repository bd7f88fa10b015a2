package term

import (
	"fmt"
	"io"
	"regexp"
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

// Table prints rows of one format, such as "%-12s %8.4f", below a title and the names of the columns.
type Table struct {
	Form, Title string
	Names       []any // texts
	begun       bool
}

// Add adds a column: the form of its cells, which begins with the blanks before it, and its name.
func (t *Table) Add(form, name string) { t.Form, t.Names = t.Form+form, append(t.Names, name) }

// Row prints a row, and the head before the first one. A text wider than the first column has a line of its own.
func (t *Table) Row(w io.Writer, cells ...any) {
	t.Head(w)
	name, _ := cells[0].(string)
	if utf8.RuneCountInString(name) > len(fmt.Sprintf(verb.FindString(t.Form), "")) {
		fmt.Fprintln(w, name)
		cells = append([]any{""}, cells[1:]...)
	}
	fmt.Fprintf(w, t.Form+"\n", cells...)
}

// Head prints the title and the names, once.
func (t *Table) Head(w io.Writer) {
	if !t.begun {
		fmt.Fprint(w, t.Title, fmt.Sprintf(verb.ReplaceAllString(t.Form, "%${1}s")+"\n", t.Names...))
	}
	t.begun = true
}

// verb matches the format of a cell; the width is negative for left-aligned text.
var verb = regexp.MustCompile(`%(-?\d*)(\.\d+)?[a-z]`)
