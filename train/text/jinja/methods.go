package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The methods of strings, of dicts and of lists by their names.
var stringMethods, dictMethods, listMethods = methods()

func methods() (ofStrings, ofDicts, ofLists map[string]signature) {
	ofText := func(f func(r *run, s string, g given) any) apply {
		return func(r *run, x any, g given) any { s, _ := textOf(x); return f(r, s, g) }
	}
	changed := func(f func(string) string) signature {
		return entry("", ofText(func(r *run, s string, _ given) any {
			r.spend(8 * len(s))
			return f(s)
		}))
	}
	strips := func(trim func(string, func(rune) bool) string) signature {
		return entry("chars", ofText(func(r *run, s string, g given) any { return strip(r, s, g, trim) }))
	}
	whether := func(f func(string) bool) signature {
		return entry("", ofText(func(r *run, s string, _ given) any { r.spend(2 * len(s)); return f(s) }))
	}
	fits := func(f func(s, part string) bool) signature {
		return entry("prefix", ofText(func(_ *run, s string, g given) any {
			return anyOf(g, func(part string) bool { return f(s, part) })
		}))
	}
	finds := func(f func(s, part string) int, must bool) signature {
		return entry("sub", ofText(func(_ *run, s string, g given) any {
			g.needs(1)
			at := f(s, argumentOf(g, 0, ""))
			if at < 0 && must {
				fail("%s: got a part that the text does not have, want one that it has", g.of)
			}
			return utf8.RuneCountInString(s[:max(at, 0)]) + min(at, 0)
		}))
	}
	ofStrings = map[string]signature{
		"upper": changed(upper), "lower": changed(lower), "title": changed(titled),
		"capitalize": changed(capitalized),
		"strip":      strips(strings.TrimFunc), "lstrip": strips(strings.TrimLeftFunc),
		"rstrip":     strips(strings.TrimRightFunc),
		"startswith": fits(strings.HasPrefix), "endswith": fits(strings.HasSuffix),
		"removeprefix": entry("prefix", ofText(func(_ *run, s string, g given) any {
			return strings.TrimPrefix(s, argumentOf(g, 0, ""))
		})),
		"removesuffix": entry("suffix", ofText(func(_ *run, s string, g given) any {
			return strings.TrimSuffix(s, argumentOf(g, 0, ""))
		})),
		"find": finds(strings.Index, false), "rfind": finds(strings.LastIndex, false),
		"index": finds(strings.Index, true), "rindex": finds(strings.LastIndex, true),
		"count": entry("sub", ofText(func(_ *run, s string, g given) any {
			g.needs(1)
			return strings.Count(s, argumentOf(g, 0, ""))
		})),
		"split": entry("sep maxsplit", ofText(split)), "rsplit": entry("sep maxsplit", ofText(rsplit)),
		"partition": entry("sep", ofText(func(r *run, s string, g given) any { return partition(r, s, g, strings.Index) })),
		"rpartition": entry("sep", ofText(func(r *run, s string, g given) any {
			return partition(r, s, g, strings.LastIndex)
		})),
		"splitlines": entry("keepends", ofText(func(r *run, s string, g given) any {
			return texts(r, r.splitLines(s, argumentOf(g, 0, false)))
		})),
		"replace": entry("old new count", ofText(func(r *run, s string, g given) any {
			g.needs(2)
			return replace(r, s, argumentOf(g, 0, ""), argumentOf(g, 1, ""), argumentOf(g, 2, -1))
		})),
		"join": entry("iterable", ofText(func(r *run, s string, g given) any {
			var parts []string
			for _, item := range r.iterate(g.at(0, nil)) {
				part, ok := textOf(item)
				if !ok {
					fail("join: got %s, want a string", typeName(item))
				}
				parts = append(parts, part)
			}
			return r.join(parts, s)
		})),
		"isdigit": whether(allOf(unicode.IsDigit)), "isalpha": whether(allOf(unicode.IsLetter)),
		"isalnum": whether(allOf(func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) })),
		"isspace": whether(allOf(isSpace)), "islower": whether(isLower), "isupper": whether(isUpper),
	}
	ofDicts = map[string]signature{
		"get": entry("key default", func(r *run, x any, g given) any {
			name, ok := textOf(g.at(0, nil))
			if value, has := x.(*Dict).Get(name); ok && has {
				return value
			}
			return g.at(1, nil)
		}),
		"keys":   entry("", func(r *run, x any, _ given) any { return view{"dict_keys", r.keys(x.(*Dict)), false} }),
		"values": entry("", func(r *run, x any, _ given) any { return view{"dict_values", r.values(x.(*Dict)), false} }),
		"items":  entry("", func(r *run, x any, _ given) any { return view{"dict_items", r.pairs(x.(*Dict)), false} }),
		"copy":   entry("", func(r *run, x any, _ given) any { return r.merge(nil, x) }),
	}
	ofLists = map[string]signature{
		"index": entry("value", func(r *run, x any, g given) any {
			for i, item := range r.iterate(x) {
				if r.equal(item, g.at(0, nil)) {
					return i
				}
			}
			fail("index: got a value that the list does not have, want one that it has")
			return nil
		}),
		"count": entry("value", func(r *run, x any, g given) any {
			n := 0
			for _, item := range r.iterate(x) {
				if r.equal(item, g.at(0, nil)) {
					n++
				}
			}
			return n
		}),
	}
	return ofStrings, ofDicts, ofLists
}

// methodOf returns the method of a value with a name, or nil. There are no methods that change a value, as in the
// sandbox of Python's engine.
func methodOf(x any, name string) any {
	var all map[string]signature
	switch x.(type) {
	case string, markup:
		all = stringMethods
	case *Dict:
		all = dictMethods
	case []any, tuple:
		all = listMethods
	}
	if m, ok := all[name]; ok {
		return method{x, name, m}
	}
	return nil
}

// values returns the values of a dict.
func (r *run) values(d *Dict) []any {
	items := r.newList(len(d.keys))
	for _, key := range d.keys {
		items = append(items, d.values[key])
	}
	return items
}

// pairs returns the keys of a dict with their values.
func (r *run) pairs(d *Dict) []any {
	items := r.newList(3 * len(d.keys))
	for _, key := range d.keys {
		items = append(items, tuple{key, d.values[key]})
	}
	return items
}

// texts returns a list of texts.
func texts(r *run, parts []string) []any {
	items := r.newList(len(parts))
	for _, part := range parts {
		items = append(items, part)
	}
	return items
}

// strip removes white space, or the characters of an argument.
func strip(r *run, s string, g given, trim func(string, func(rune) bool) string) any {
	if g.at(0, nil) == nil {
		return trim(s, func(c rune) bool { r.spend(2); return isSpace(c) })
	}
	set := map[rune]bool{}
	for _, c := range argumentOf(g, 0, "") {
		r.spend(keyCost)
		set[c] = true
	}
	return trim(s, func(c rune) bool { r.spend(4); return set[c] })
}

// anyOf reports whether fits is true for one of the strings of the first argument.
func anyOf(g given, fits func(string) bool) bool {
	all, ok := g.at(0, nil).(tuple)
	if !ok {
		all = tuple{g.at(0, nil)}
	}
	for _, text := range all {
		part, ok := textOf(text)
		if !ok {
			fail("%s: got %s, want a string", g.of, typeName(text))
		}
		if fits(part) {
			return true
		}
	}
	return false
}

func replace(r *run, s, old, by string, count int) any {
	places := strings.Count(s, old)
	if count < 0 || count > places {
		count = places
	}
	r.spend(len(s))
	r.spendTimes(len(by)+8, count)
	return strings.Replace(s, old, by, count)
}

// allOf returns a test that is true for texts that are not empty and whose characters are all of a kind.
func allOf(kind func(rune) bool) func(string) bool {
	return func(s string) bool {
		return s != "" && strings.IndexFunc(s, func(c rune) bool { return !kind(c) }) < 0
	}
}
