package runs

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
)

// A column of the table is text, aligned to the left, or a number, aligned to the right.
type column struct {
	name string
	text bool
	of   func(session.Summary) string
}

// columns returns the columns after the folder.
func columns() []column {
	return []column{
		{name: "DATE", text: true, of: date},
		{name: "STATE", text: true, of: func(s session.Summary) string { return short(s.State) }},
		{name: "STEPS", of: steps},
		{name: "MODEL", text: true, of: func(s session.Summary) string { return short(s.Title) }},
		{name: "PARAMS", of: func(s session.Summary) string { return count(s.Parameters) }},
		{name: "TRAIN", of: func(s session.Summary) string { return loss(s.Losses.Training) }},
		{name: "VALID", of: func(s session.Summary) string { return loss(s.Losses.Validation) }},
		{name: "TIME", of: duration},
	}
}

// printTable prints a row for each run. A folder's name that is too long for its column has a line of its own.
func printTable(w io.Writer, all []session.Summary) {
	rows, room := make([][]any, len(all)), term.Columns
	for i, s := range all {
		rows[i] = []any{term.Line(s.Folder)}
	}
	t := term.Table{Names: []any{"FOLDER"}}
	for _, c := range columns() {
		width := len(c.name)
		for i, s := range all {
			cell := c.of(s)
			rows[i], width = append(rows[i], cell), max(width, utf8.RuneCountInString(cell))
		}
		room -= 1 + width
		if c.text {
			width = -width
		}
		t.Add(fmt.Sprintf(" %%%ds", width), c.name)
	}
	width := len("FOLDER")
	for _, row := range rows {
		if n := utf8.RuneCountInString(row[0].(string)); n <= room {
			width = max(width, n)
		}
	}
	t.Form = fmt.Sprintf("%%-%ds", width) + t.Form
	t.Head(w)
	for _, row := range rows {
		t.Row(w, row...)
	}
}

// short shortens the longest name of a layer, and unknown words.
func short(word string) string {
	const most = 10
	if r := []rune(word); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return word
}

// steps returns the number of steps that a run has taken, after the step of its model if that comes from an earlier
// step.
func steps(s session.Summary) string {
	if s.Best > 0 {
		return fmt.Sprintf("%d/%d", s.Best, s.Steps)
	}
	return fmt.Sprint(s.Steps)
}

func date(s session.Summary) string {
	if s.Begin == nil {
		return "-"
	}
	return s.Begin.Format("2006-01-02 15:04")
}

func duration(s session.Summary) string {
	if s.Seconds == nil {
		return "-"
	}
	d := time.Duration(*s.Seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func loss(x *float64) string {
	if x == nil {
		return "-"
	}
	if *x >= 1e5 { // of a run that diverged
		return fmt.Sprintf("%.3g", *x)
	}
	return fmt.Sprintf("%.3f", *x)
}

// count returns three digits of a number with a unit.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	x, unit := float64(n), ""
	for _, next := range []string{"k", "M", "G", "T"} {
		if x < 999.5 {
			break
		}
		x, unit = x/1000, next
	}
	return fmt.Sprintf("%.3g%s", x, unit)
}
