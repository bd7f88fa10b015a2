package jinja

import "unicode/utf8"

// attribute is x.name: a method, or else the item with the name.
type attribute struct {
	of   expression
	name string
}

func (e attribute) evaluate(r *run) any {
	x := r.eval(e.of)
	if m := methodOf(x, e.name); m != nil {
		return m
	}
	return r.item(x, e.name)
}

// item is x[key]: the item with the key, or else a method.
type item struct{ of, key expression }

func (e item) evaluate(r *run) any { return r.item(r.eval(e.of), r.eval(e.key)) }

// item returns the value of a dict, the item of a list, the character of a string, or a method.
func (r *run) item(x, key any) any {
	name, named := textOf(key)
	switch x := x.(type) {
	case undefined:
		fail("got nothing defined: %s, want a value with %s", x.name, r.repr(key))
	case namespace:
		if value, ok := x.Get(name); ok && named {
			return value
		}
	case *Dict:
		if value, ok := x.Get(name); ok && named {
			return value
		}
	case *loopState:
		return x.member(name)
	case string:
		if i, ok := r.characterAt(x, key); ok {
			return x[i : i+runeLen(x[i:])]
		}
	case markup:
		if i, ok := r.characterAt(string(x), key); ok {
			return x[i : i+runeLen(string(x[i:]))]
		}
	default:
		items, is := sequenceOf(x)
		if i, ok := indexOf(key, len(items)); ok && is {
			return items[i]
		}
	}
	if m := methodOf(x, name); named && m != nil {
		return m
	}
	return undefined{r.str(key)}
}

// indexOf returns an index, counted from the end if it is negative, and reports whether it is within n items.
func indexOf(key any, n int) (int, bool) {
	i, ok := smallInteger(key)
	if i < 0 {
		i += n
	}
	return i, ok && i >= 0 && i < n
}

// characterAt returns the offset of the character with an index, and reports whether there is such a character.
func (r *run) characterAt(text string, key any) (at int, ok bool) {
	i, ok := smallInteger(key)
	if !ok {
		return 0, false
	}
	if i >= 0 {
		r.spend(min(i, len(text)))
		for at < len(text) && i > 0 {
			at, i = at+runeLen(text[at:]), i-1
		}
		return at, at < len(text)
	}
	r.spend(min(-max(i, -len(text)-1), len(text)))
	at = len(text)
	for ; at > 0 && i < 0; i++ {
		_, n := utf8.DecodeLastRuneInString(text[:at])
		at -= n
	}
	return at, i == 0 && at < len(text)
}

// runeLen returns the length of the first character of a text.
func runeLen(text string) int {
	_, n := utf8.DecodeRuneInString(text)
	return n
}

// slice is x[from:to:step].
type slice struct {
	of    expression
	parts [3]expression
}

func (e slice) evaluate(r *run) any {
	x := r.eval(e.of)
	var parts [3]*int
	for i, part := range e.parts {
		if part == nil {
			continue
		}
		value := r.eval(part)
		if value == nil {
			continue
		}
		n, ok := smallInteger(value)
		if !ok {
			fail("got a slice whose bounds are no whole numbers, want those")
		}
		parts[i] = &n
	}
	switch x := x.(type) {
	case []any:
		return cut(r, x, parts)
	case tuple:
		return tuple(cut(r, x, parts))
	case view:
		if x.indexed {
			x.items = cut(r, x.items, parts)
			return x
		}
	case string:
		return r.cutText(x, parts)
	case markup:
		return markup(r.cutText(string(x), parts))
	}
	fail("got a slice of %s, want one of a list or a string", typeName(x))
	return nil
}

// cutText returns a slice of a text.
func (r *run) cutText(text string, parts [3]*int) string {
	if n := parts[1]; parts[0] == nil && parts[2] == nil && n != nil { // the text without its end
		at, ok := r.characterAt(text, *n)
		if *n < 0 && !ok {
			at = 0
		}
		return text[:at]
	}
	if n := parts[0]; parts[1] == nil && parts[2] == nil && n != nil { // the text without its beginning
		at, ok := r.characterAt(text, *n)
		if *n < 0 && !ok {
			at = 0
		}
		return text[at:]
	}
	r.spendTimes(itemCost, len(text))
	return string(cut(r, []rune(text), parts))
}

// cut returns the items of a slice by Python's rules.
func cut[T any](r *run, all []T, parts [3]*int) []T {
	n, step := len(all), 1
	if parts[2] != nil {
		step = *parts[2]
	}
	if step == 0 {
		fail("got a slice with steps of 0, want others")
	}
	least, most := 0, n
	if step < 0 {
		least, most = -1, n-1
	}
	bound := func(part *int, otherwise int) int {
		if part == nil {
			return otherwise
		}
		i := *part
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	from, to := bound(parts[0], least), bound(parts[1], most)
	if step < 0 {
		from, to = bound(parts[0], most), bound(parts[1], least)
	}
	step = min(max(step, -n-1), n+1)
	items := []T{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		r.spend(itemCost)
		items = append(items, all[i])
	}
	return items
}
