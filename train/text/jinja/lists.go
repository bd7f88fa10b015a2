package jinja

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func length(r *run, x any, g given) any {
	switch x := x.(type) {
	case []any:
		return len(x)
	case *Dict:
		return len(x.keys)
	}
	return len(r.listFor(x, g))
}

func listOf(r *run, x any, g given) any { return r.listFor(x, g) }

func first(r *run, x any, g given) any { return item(r, x, g, 0) }

func last(r *run, x any, g given) any { return item(r, x, g, -1) }

// item returns the item of a list at an index.
func item(r *run, x any, g given, i int) any {
	if _, ok := x.([]any); !ok {
		x = r.listFor(x, g)
	}
	return r.member(x, i)
}

func reverse(r *run, x any, g given) any {
	items := slices.Clone(r.listFor(x, g))
	slices.Reverse(items)
	if _, ok := x.(string); ok {
		return joined(r, items, given{named: &Dict{}})
	}
	return items
}

func unique(r *run, x any, g given) any {
	var items []any
	for _, item := range r.listFor(x, g) {
		if !r.contains(items, item) {
			items = append(items, item)
		}
	}
	return items
}

func sorted(r *run, x any, g given) any {
	attribute := argumentOf(g, 2, "attribute", "")
	of := func(item any) any {
		if attribute != "" {
			return r.path(item, attribute)
		}
		return item
	}
	return sortedBy(r.listFor(x, g), of, argumentOf(g, 1, "case_sensitive", false), argumentOf(g, 0, "reverse", false))
}

// sortedBy returns items in the order of what of returns for them.
func sortedBy(items []any, of func(any) any, exact, reversed bool) any {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(x, y any) int {
		order := orderOf(of(x), of(y), exact)
		if reversed {
			return -order
		}
		return order
	})
	return items
}

func orderOf(x, y any, exact bool) int {
	if a, b, ok := numbersOf(x, y); ok {
		return cmp.Compare(a, b)
	}
	if !isString(x) || !isString(y) {
		fail("got %s beside %s to sort, want strings or numbers", typeName(x), typeName(y))
	}
	a, b := x.(string), y.(string)
	if !exact {
		a, b = strings.ToLower(a), strings.ToLower(b)
	}
	return cmp.Compare(a, b)
}

func dictSort(r *run, x any, g given) any {
	items := dictMethod("items")(r, x, g).([]any)
	part, by := 0, argumentOf(g, 1, "by", "key")
	if by == "value" {
		part = 1
	}
	of := func(item any) any { return item.([]any)[part] }
	return sortedBy(items, of, argumentOf(g, 0, "case_sensitive", false), argumentOf(g, 2, "reverse", false))
}

// path returns the member of a value at a path of names with dots.
func (r *run) path(x any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		key := any(name)
		if i, err := strconv.Atoi(name); err == nil {
			key = i
		}
		x = r.member(x, key)
	}
	return x
}

func joined(r *run, x any, g given) any {
	separator, attribute := argumentOf(g, 0, "d", ""), argumentOf(g, 1, "attribute", "")
	var parts []string
	for _, item := range r.listFor(x, g) {
		if attribute != "" {
			item = r.path(item, attribute)
		}
		parts = append(parts, r.long(separator+r.textOf(item)))
	}
	return strings.TrimPrefix(strings.Join(parts, ""), separator)
}

func mapped(r *run, x any, g given) any {
	items := slices.Clone(r.listFor(x, g))
	attribute := argumentOf(g, -1, "attribute", "")
	var apply filterFunc
	if attribute == "" {
		name := argumentOf(g, 0, "the filter", "")
		apply = filterOf(name)
		g = given{name, g.args[1:], g.named}
	}
	for i, item := range items {
		if apply != nil {
			items[i] = apply(r, item, g)
			continue
		}
		items[i] = r.path(item, attribute)
		if _, none := items[i].(undefined); none {
			items[i] = g.at(-1, "default", undefined{})
		}
	}
	return items
}

// selected returns the items, or with attributes those whose attribute, of which a test says want.
func selected(r *run, x any, g given, attributes, want bool) any {
	items, args, attribute := []any{}, g.args, ""
	if attributes {
		attribute = argumentOf(g, 0, "the attribute", "")
		args = args[min(1, len(args)):]
	}
	check := func(x any, _ []any) bool { return truth(x) }
	if len(args) > 0 {
		name, _ := args[0].(string)
		check, args = testOf(name), args[1:]
	}
	for _, item := range r.listFor(x, g) {
		value := item
		if attributes {
			value = r.path(item, attribute)
		}
		if check(value, args) == want {
			items = append(items, item)
		}
	}
	return items
}
