package jinja

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func length(r *run, x any, g given) any {
	if text, ok := textOf(x); ok {
		return utf8.RuneCountInString(text)
	}
	if v, ok := x.(view); ok {
		return len(v.items)
	}
	if d, ok := x.(*Dict); ok {
		return len(d.keys)
	}
	items, ok := sequenceOf(x)
	if _, none := x.(undefined); !ok && !none {
		fail("%s: got %s, want a list, a dict or a string", g.of, typeName(x))
	}
	return len(items)
}

func first(r *run, x any, _ given) any {
	if text, ok := textOf(x); ok {
		x = text[:runeLen(text)]
	}
	for _, item := range r.iterate(x) {
		return item
	}
	return undefined{"the first item"}
}

func last(r *run, x any, _ given) any {
	if text, ok := textOf(x); ok {
		_, n := utf8.DecodeLastRuneInString(text)
		x = text[len(text)-n:]
	}
	for _, item := range slices.Backward(r.iterate(x)) {
		return item
	}
	return undefined{"the last item"}
}

func reverse(r *run, x any, _ given) any {
	items := append(r.newList(0), r.iterate(x)...)
	r.spendTimes(itemCost, len(items))
	slices.Reverse(items)
	if isString(x) {
		return joinItems(r, items, given{})
	}
	return &generator{items}
}

func isString(x any) bool { _, ok := textOf(x); return ok }

// items is the filter items: the keys and values of a dict.
func items(r *run, x any, g given) any {
	switch x := x.(type) {
	case undefined:
		return &generator{}
	case *Dict:
		return &generator{r.pairs(x)}
	}
	fail("%s: got %s, want a dict", g.of, typeName(x))
	return nil
}

// path returns the member of a value that a path of names or numbers, separated by dots, names; for an empty path it
// returns the value.
func (r *run) path(x, path any) any {
	text, ok := textOf(path)
	if path == nil {
		return x
	}
	if !ok {
		return r.item(x, path)
	}
	for name := range strings.SplitSeq(text, ".") {
		r.spend(nodeCost)
		key := any(name)
		if i, err := strconv.Atoi(name); err == nil && i >= 0 {
			key = i
		}
		x = r.item(x, key)
	}
	return x
}

// keyOf returns the sort key of a value: an attribute or the value itself; texts are in lower case unless exact is
// true.
func (r *run) keyOf(x, attribute any, exact bool) any {
	key := r.path(x, attribute)
	if text, ok := textOf(key); ok && !exact {
		r.spend(8 * len(text))
		return lower(text)
	}
	return key
}

// keyed is a value with its sort key.
type keyed struct{ key, value any }

func (r *run) keyed(x any, key func(any) any) []keyed {
	items := r.iterate(x)
	r.spendTimes(2*itemCost, len(items))
	all := make([]keyed, len(items))
	for i, item := range items {
		all[i] = keyed{key(item), item}
	}
	return all
}

// sortKeyed sorts values by their keys.
func (r *run) sortKeyed(all []keyed, reversed bool) []any {
	slices.SortStableFunc(all, func(x, y keyed) int {
		r.spend(nodeCost)
		order, _ := r.order("beside", x.key, y.key)
		if reversed {
			return -order
		}
		return order
	})
	items := r.newList(len(all))
	for _, k := range all {
		items = append(items, k.value)
	}
	return items
}

func sorted(r *run, x any, g given) any {
	exact := argumentOf(g, 1, false)
	attributes := []any{g.at(2, nil)}
	if text, ok := textOf(attributes[0]); ok {
		attributes = texts(r, strings.Split(text, ","))
	}
	return r.sortKeyed(r.keyed(x, func(item any) any {
		key := make(tuple, len(attributes))
		for i, a := range attributes {
			key[i] = r.keyOf(item, a, exact)
		}
		return key
	}), argumentOf(g, 0, false))
}

func dictSort(r *run, x any, g given) any {
	d, ok := x.(*Dict)
	by, exact := argumentOf(g, 1, "key"), argumentOf(g, 0, false)
	part := slices.Index([]string{"key", "value"}, by)
	if !ok || part < 0 {
		fail("dictsort: got %s by %.50q, want a dict by key or value", typeName(x), by)
	}
	pairs := r.keyed(r.pairs(d), func(pair any) any { return r.keyOf(pair, part, exact) })
	return r.sortKeyed(pairs, argumentOf(g, 2, false))
}

func unique(r *run, x any, g given) any {
	var kept, keys []any
	for _, item := range r.iterate(x) {
		r.spend(2 * itemCost)
		key := r.keyOf(item, g.at(1, nil), argumentOf(g, 0, false))
		if checkKey(key); !r.contains(keys, key) {
			keys, kept = append(keys, key), append(kept, item)
		}
	}
	return &generator{kept}
}

// extreme is min or max: the first value with the smallest or the largest key.
func extreme(r *run, x any, g given, want int) any {
	var best any = undefined{"what an empty list has most of"}
	var most any
	for i, item := range r.iterate(x) {
		r.spend(nodeCost)
		key := r.keyOf(item, g.at(1, nil), argumentOf(g, 0, false))
		if i > 0 {
			if order, _ := r.order("beside", key, most); order*want <= 0 {
				continue
			}
		}
		best, most = item, key
	}
	return best
}

func sum(r *run, x any, g given) any {
	total := g.at(1, 0)
	for _, item := range r.iterate(x) {
		r.spend(nodeCost)
		total = r.calculate("+", total, r.path(item, g.at(0, nil)))
	}
	return total
}

func joinItems(r *run, x any, g given) any {
	items := r.iterate(x)
	r.spendTimes(itemCost, len(items))
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = r.str(r.path(item, g.at(1, nil)))
	}
	return r.join(parts, r.str(g.at(0, "")))
}

func mapped(r *run, x any, g given) any {
	attribute, byAttribute := g.named.Get("attribute")
	if len(g.args) == 0 && !byAttribute {
		fail("map: got no filter, want one or an attribute")
	}
	items := r.newList(0)
	if !truth(x) {
		return &generator{}
	}
	for _, item := range r.iterate(x) {
		r.spend(nodeCost + itemCost)
		if len(g.args) > 0 {
			name, _ := textOf(g.args[0])
			items = append(items, r.filter(name, item, g.args[1:], g.named))
			continue
		}
		value := r.path(item, attribute)
		if _, none := value.(undefined); none {
			if otherwise, ok := g.named.Get("default"); ok && otherwise != nil {
				value = otherwise
			}
		}
		items = append(items, value)
	}
	return &generator{items}
}

// selected returns the items for which a test gives want. The test gets the item or, with attributes, the item's
// attribute.
func selected(r *run, x any, g given, attributes, want bool) any {
	var attribute any
	args := g.args
	if attributes {
		if len(args) == 0 {
			fail("%s: got no attribute, want one", g.of)
		}
		attribute, args = args[0], args[1:]
	}
	items := r.newList(0)
	if !truth(x) {
		return &generator{}
	}
	for _, item := range r.iterate(x) {
		r.spend(nodeCost + itemCost)
		value := r.path(item, attribute)
		ok := truth(value)
		if len(args) > 0 {
			name, _ := textOf(args[0])
			ok = r.test(name, value, args[1:], g.named)
		}
		if ok == want {
			items = append(items, item)
		}
	}
	return &generator{items}
}
