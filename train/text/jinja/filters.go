package jinja

import (
	"math"
	"strconv"
	"strings"
)

// given is the arguments of a filter or method.
type given struct {
	of    string // the filter's name
	args  []any
	named *Dict
}

// at returns the argument with an index or a name, or otherwise.
func (g given) at(i int, name string, otherwise any) any {
	if i >= 0 && i < len(g.args) {
		return g.args[i]
	}
	if value, ok := g.named.Get(name); ok {
		return value
	}
	return otherwise
}

// argumentOf returns an argument of the type of otherwise.
func argumentOf[T any](g given, i int, name string, otherwise T) T {
	value := g.at(i, name, otherwise)
	x, ok := value.(T)
	if !ok {
		fail("%s: %s: got %s, want %s", g.of, name, typeName(value), typeName(otherwise))
	}
	return x
}

type filterFunc func(r *run, x any, g given) any

// filters are all filters by their names. Methods of strings and dicts are among them.
var filters map[string]filterFunc

func init() {
	filters = map[string]filterFunc{
		"safe":    func(_ *run, x any, _ given) any { return x },
		"string":  func(r *run, x any, _ given) any { return r.textOf(x) },
		"tojson":  toJSON,
		"default": otherwise, "d": otherwise,
		"length": length, "count": length,
		"list": listOf, "first": first, "last": last, "reverse": reverse, "unique": unique, "sort": sorted,
		"join": joined, "map": mapped, "dictsort": dictSort,
		"selectattr": func(r *run, x any, g given) any { return selected(r, x, g, true, true) },
		"rejectattr": func(r *run, x any, g given) any { return selected(r, x, g, true, false) },
		"select":     func(r *run, x any, g given) any { return selected(r, x, g, false, true) },
		"reject":     func(r *run, x any, g given) any { return selected(r, x, g, false, false) },
		"trim":       func(r *run, x any, g given) any { return strings.TrimFunc(r.stringOf(x, g), isSpace) },
		"indent":     indented, "int": whole, "float": floating, "abs": absolute,
		"items": dictMethod("items"),
	}
	for _, name := range []string{"upper", "lower", "title", "capitalize", "replace"} {
		filters[name] = func(r *run, x any, g given) any { return stringMethods[name](r, r.stringOf(x, g), g) }
	}
}

// filterOf returns the filter with a name.
func filterOf(name string) filterFunc {
	f, ok := filters[name]
	if !ok {
		fail("got the filter %.50q, want one of the known ones, such as tojson or trim", name)
	}
	return f
}

// stringOf returns the string that a filter is for.
func (r *run) stringOf(x any, g given) string {
	s, ok := x.(string)
	if !ok {
		fail("%s: got %s, want a string", g.of, typeName(x))
	}
	return r.long(s)
}

// listFor returns the items of the list or string that a filter is for, or the keys of a dict.
func (r *run) listFor(x any, g given) []any {
	switch x := x.(type) {
	case []any:
		r.took(1 + len(x)/2)
		return x
	case *Dict:
		return r.keys(x)
	case string:
		var items []any
		for _, c := range r.long(x) {
			items = append(items, string(c))
		}
		r.took(len(items))
		return items
	}
	fail("%s: got %s, want a list", g.of, typeName(x))
	return nil
}

func isString(x any) bool { _, ok := x.(string); return ok }

func otherwise(_ *run, x any, g given) any {
	if _, none := x.(undefined); none || argumentOf(g, 1, "boolean", false) && !truth(x) {
		return g.at(0, "default_value", "")
	}
	return x
}

func indented(r *run, x any, g given) any {
	text, margin := r.stringOf(x, g), ""
	switch width := g.at(0, "width", 4).(type) {
	case int:
		margin = strings.Repeat(" ", min(max(width, 0), 1000))
	case string:
		margin = width
	}
	first, blank := argumentOf(g, 1, "first", false), argumentOf(g, 2, "blank", false)
	lines := strings.Split(text, "\n")
	r.took(len(lines) * (1 + len(margin)/16))
	for i, line := range lines {
		if (i > 0 || first) && (line != "" || blank) {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}

func whole(_ *run, x any, g given) any {
	if s, ok := x.(string); ok {
		s = strings.TrimLeftFunc(s, isSpace)
		digits := strings.TrimLeft(s, "+-")
		if n, err := strconv.Atoi(s[:len(s)-len(digits)+prefix(digits, isDigit)]); err == nil {
			return n
		}
		return g.at(0, "default", 0)
	}
	if a, ok := numberOf(x); ok && math.Abs(a) <= 1<<53 {
		return int(math.Floor(a))
	}
	return g.at(0, "default", 0)
}

func floating(_ *run, x any, g given) any {
	if s, ok := x.(string); ok {
		if a, err := strconv.ParseFloat(strings.TrimFunc(s, isSpace), 64); err == nil {
			return a
		}
	}
	if a, ok := numberOf(x); ok {
		return a
	}
	return g.at(0, "default", 0.0)
}

func absolute(_ *run, x any, g given) any {
	switch x := x.(type) {
	case int:
		return max(x, -x)
	case float64:
		return math.Abs(x)
	}
	fail("%s: got %s, want a number", g.of, typeName(x))
	return nil
}
