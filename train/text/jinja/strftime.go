package jinja

import (
	"strings"
	"time"
)

// strftime is the function strftime_now: the time of the rendering in a format of C's strftime.
func strftime(r *run, args []any, _ *Dict) any {
	if len(args) != 1 || !isString(args[0]) {
		fail("strftime_now: got other arguments, want a format")
	}
	text := builder{r: r}
	format := r.str(args[0])
	for {
		before, after, found := strings.Cut(format, "%")
		text.write(before)
		if !found || after == "" {
			text.write(format[len(before):])
			return text.String()
		}
		plain := strings.HasPrefix(after, "-") && len(after) > 1
		if plain {
			after = after[1:]
		}
		part, ok := timePart(r.now, after[0])
		switch {
		case !ok:
			part = format[len(before) : len(format)-len(after)+1]
		case plain:
			part = strings.TrimLeft(part[:len(part)-1], "0 ") + part[len(part)-1:]
		}
		text.write(part)
		format = after[1:]
	}
}

// timePart returns the text for a letter of strftime.
func timePart(now time.Time, letter byte) (string, bool) {
	if form, ok := timeForms[letter]; ok {
		return now.Format(form), true
	}
	other, ok := map[byte]string{'%': "%", 'n': "\n", 't': "\t"}[letter]
	return other, ok
}

// timeForms maps the letters of strftime to layouts of package time.
var timeForms = map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'b': "Jan", 'h': "Jan", 'B': "January", 'H': "15",
	'M': "04", 'y': "06", 'S': "05", 'A': "Monday", 'a': "Mon", 'I': "03", 'p': "PM", 'j': "002", 'e': "_2",
	'D': "01/02/06", 'x': "01/02/06", 'F': "2006-01-02", 'T': "15:04:05", 'X': "15:04:05", 'R': "15:04",
	'c': "Mon Jan _2 15:04:05 2006"}
