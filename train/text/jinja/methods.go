package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// stringMethods are the methods of strings by their names.
var stringMethods = map[string]func(r *run, s string, g given) any{
	"upper":      func(_ *run, s string, _ given) any { return cases.Upper(language.Und).String(s) },
	"lower":      func(_ *run, s string, _ given) any { return cases.Lower(language.Und).String(s) },
	"title":      func(_ *run, s string, _ given) any { return titled(s) },
	"capitalize": func(_ *run, s string, _ given) any { return capitalized(s) },
	"strip":      func(_ *run, s string, g given) any { return strip(s, g, strings.TrimFunc) },
	"lstrip":     func(_ *run, s string, g given) any { return strip(s, g, strings.TrimLeftFunc) },
	"rstrip":     func(_ *run, s string, g given) any { return strip(s, g, strings.TrimRightFunc) },
	"startswith": func(_ *run, s string, g given) any {
		return anyOf(g, func(p string) bool { return strings.HasPrefix(s, p) })
	},
	"endswith": func(_ *run, s string, g given) any {
		return anyOf(g, func(p string) bool { return strings.HasSuffix(s, p) })
	},
	"split":   split,
	"replace": replace,
}

// methodOf returns the method of a value with a name, or nil. The length of a list or string is one, without a call.
func methodOf(x any, name string) any {
	switch x := x.(type) {
	case string:
		if name == "length" {
			return utf8.RuneCountInString(x)
		}
		if m := stringMethods[name]; m != nil {
			return function(func(r *run, args []any, named *Dict) any { return m(r, r.long(x), given{name, args, named}) })
		}
	case []any:
		if name == "length" {
			return len(x)
		}
	case *Dict:
		if slices.Contains([]string{"get", "items", "keys", "values"}, name) {
			return function(func(r *run, args []any, named *Dict) any {
				return dictMethod(name)(r, x, given{name, args, named})
			})
		}
	}
	return nil
}

// dictMethod returns the method of dicts with a name, as a filter.
func dictMethod(name string) filterFunc {
	return func(r *run, x any, g given) any {
		d, ok := x.(*Dict)
		if !ok {
			fail("%s: got %s, want a dict", g.of, typeName(x))
		}
		if name == "get" {
			if value, ok := d.Get(argumentOf(g, 0, "the key", "")); ok {
				return value
			}
			return g.at(1, "default", nil)
		}
		if name == "keys" {
			return r.keys(d)
		}
		items := r.keys(d)
		for i, key := range d.keys {
			items[i] = d.values[key]
			if name == "items" {
				items[i] = []any{key, d.values[key]}
			}
		}
		return items
	}
}

// keys returns the keys of a dict.
func (r *run) keys(d *Dict) []any {
	r.took(len(d.keys))
	keys := make([]any, len(d.keys))
	for i, key := range d.keys {
		keys[i] = key
	}
	return keys
}

func capitalized(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(c)) + s[n:]
}

// strip removes white space, or the characters of an argument.
func strip(s string, g given, trim func(string, func(rune) bool) string) any {
	if characters, ok := g.at(0, "chars", nil).(string); ok {
		return trim(s, func(c rune) bool { return strings.ContainsRune(characters, c) })
	}
	return trim(s, isSpace)
}

// anyOf reports whether one of the strings of the first argument fits.
func anyOf(g given, fits func(string) bool) bool {
	texts, ok := g.at(0, "", nil).([]any)
	if !ok {
		texts = []any{g.at(0, "", nil)}
	}
	for _, text := range texts {
		part, ok := text.(string)
		if !ok {
			fail("%s: got %s, want a string", g.of, typeName(text))
		}
		if fits(part) {
			return true
		}
	}
	return false
}

// split cuts a string at a separator, or at white space, at most as often as the second argument says.
func split(r *run, s string, g given) any {
	most := argumentOf(g, 1, "maxsplit", -1)
	if most < 0 {
		most = len(s)
	}
	var parts []string
	if g.at(0, "sep", nil) == nil {
		parts = fields(s, most)
	} else {
		separator := argumentOf(g, 0, "sep", "")
		if separator == "" {
			fail("split: got an empty separator, want a character")
		}
		parts = strings.SplitN(s, separator, most+1)
	}
	r.took(len(parts))
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list
}

// fields cuts a string at white space, at most as often as most says.
func fields(s string, most int) (parts []string) {
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		n := strings.IndexFunc(s, isSpace)
		if n < 0 || len(parts) == most {
			return append(parts, s)
		}
		parts, s = append(parts, s[:n]), s[n:]
	}
	return parts
}

func replace(r *run, s string, g given) any {
	old, by := argumentOf(g, 0, "old", ""), argumentOf(g, 1, "new", "")
	if len(g.args) < 2 {
		fail("replace: got %d arguments, want what to replace, and by what", len(g.args))
	}
	count := -1
	if n, ok := g.at(2, "count", nil).(int); ok {
		count = n
	}
	if places := strings.Count(s, old); count < 0 || count > places {
		count = places
	}
	r.took(count * (1 + len(by)/16))
	return strings.Replace(s, old, by, count)
}

// titled returns a text whose words begin with capitals.
func titled(text string) string {
	begins := true
	return strings.Map(func(c rune) rune {
		if begins && isWord(c) {
			c = unicode.ToUpper(c)
		}
		begins = !isWord(c)
		return c
	}, text)
}
