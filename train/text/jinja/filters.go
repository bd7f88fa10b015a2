package jinja

import "strings"

// filters are all filters by their names.
var filters map[string]signature

func init() {
	picks := func(attribute, want bool) signature {
		return open(func(r *run, x any, g given) any { return selected(r, x, g, attribute, want) })
	}
	best := func(want int) signature {
		return entry("case_sensitive attribute", func(r *run, x any, g given) any { return extreme(r, x, g, want) })
	}
	filters = map[string]signature{
		"safe": entry("", func(r *run, x any, _ given) any { return markup(r.str(x)) }),
		"string": entry("", func(r *run, x any, _ given) any {
			if m, ok := x.(markup); ok {
				return m
			}
			return r.str(x)
		}),
		"escape": entry("", escaped), "e": entry("", escaped),
		"tojson":  entry("ensure_ascii indent separators sort_keys", toJSON),
		"default": entry("default_value boolean", otherwise), "d": entry("default_value boolean", otherwise),
		"length": entry("", length), "count": entry("", length),
		"list":  entry("", func(r *run, x any, _ given) any { return append(r.newList(0), r.iterate(x)...) }),
		"first": entry("", first), "last": entry("", last), "reverse": entry("", reverse),
		"unique": entry("case_sensitive attribute", unique), "sort": entry("reverse case_sensitive attribute", sorted),
		"min": best(-1), "max": best(1), "sum": entry("attribute start", sum),
		"join": entry("d attribute", joinItems), "map": open(mapped),
		"dictsort":   entry("case_sensitive by reverse", dictSort),
		"selectattr": picks(true, true), "rejectattr": picks(true, false),
		"select": picks(false, true), "reject": picks(false, false),
		"items":  entry("", items),
		"indent": entry("width first blank", indented),
		"int":    entry("default base", toInteger), "float": entry("default", toFloat),
		"abs": entry("", absolute), "round": entry("precision method", rounded),
		"title": entry("", titleOfWords),
		"replace": entry("old new count", func(r *run, x any, g given) any {
			g.needs(2)
			count := -1
			if g.at(2, nil) != nil {
				count = argumentOf(g, 2, -1)
			}
			return replace(r, r.str(x), r.str(g.at(0, nil)), r.str(g.at(1, nil)), count)
		}),
	}
	for name, of := range map[string]string{"upper": "upper", "lower": "lower", "capitalize": "capitalize",
		"trim": "strip"} {
		s := stringMethods[of]
		filters[name] = signature{s.parameters, func(r *run, x any, g given) any {
			if _, ok := x.(markup); !ok {
				x = r.str(x)
			}
			return method{x, name, s}.call(r, g.args, g.named)
		}}
	}
}

// filter returns the result of the filter with a name for a value.
func (r *run) filter(name string, x any, args []any, named *Dict) any {
	f, ok := filters[name]
	if !ok {
		fail("got the filter %.50q, want one of the known ones, such as tojson or trim", name)
	}
	return f.call(r, name, x, args, named)
}

func otherwise(_ *run, x any, g given) any {
	if _, none := x.(undefined); none || argumentOf(g, 1, false) && !truth(x) {
		return g.at(0, "")
	}
	return x
}

func escaped(r *run, x any, _ given) any {
	if m, ok := x.(markup); ok {
		return m
	}
	return markup(r.escape(r.str(x)))
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// escape returns a text in which the characters of HTML are escaped.
func (r *run) escape(text string) string {
	r.spend(5 * byteCost * len(text)) // no escape is longer
	return htmlEscapes.Replace(text)
}

func indented(r *run, x any, g given) any {
	text, ok := textOf(x)
	if !ok {
		fail("%s: got %s, want a string", g.of, typeName(x))
	}
	margin, ok := textOf(g.at(0, 4))
	if !ok {
		b := builder{r: r}
		b.repeat(" ", argumentOf(g, 0, 4))
		margin = b.String()
	}
	first, blank := argumentOf(g, 1, false), argumentOf(g, 2, false)
	b := builder{r: r}
	for i, line := range r.splitLines(text+"\n", false) {
		if i > 0 {
			b.write("\n")
		}
		if i == 0 && first || i > 0 && (line != "" || blank) {
			b.write(margin)
		}
		b.write(line)
	}
	if _, ok := x.(markup); ok {
		return markup(b.String())
	}
	return b.String()
}
