package jinja

import "strings"

// calculate returns the result of an arithmetic operator, which may also concatenate or repeat texts and lists.
func (r *run) calculate(operator string, x, y any) any {
	if isNumber(x) && isNumber(y) {
		return r.calculateNumbers(operator, x, y)
	}
	switch operator {
	case "+":
		if z := r.add(x, y); z != nil {
			return z
		}
	case "*":
		if _, ok := integerIn(x); ok {
			x, y = y, x
		}
		if z := r.times(x, y); z != nil {
			return z
		}
	}
	fail("got %s %s %s, want values that this operator takes", typeName(x), operator, typeName(y))
	return nil
}

// add returns the concatenation of two texts, lists or tuples, or nil for other values.
func (r *run) add(x, y any) any {
	s, left := textOf(x)
	t, right := textOf(y)
	if left && right {
		_, safe := x.(markup)
		_, also := y.(markup)
		switch {
		case safe && !also:
			t = r.escape(t)
		case also && !safe:
			s = r.escape(s)
		}
		joined := r.join([]string{s, t}, "")
		if safe || also {
			return markup(joined)
		}
		return joined
	}
	both := func(a, b []any) []any { return append(append(r.newList(len(a)+len(b)), a...), b...) }
	switch a := x.(type) {
	case []any:
		if b, ok := y.([]any); ok {
			return both(a, b)
		}
	case tuple:
		if b, ok := y.(tuple); ok {
			return tuple(both(a, b))
		}
	}
	return nil
}

// times returns a text, a list or a tuple repeated y times, or nil for other values.
func (r *run) times(x, y any) any {
	n, ok := smallInteger(y)
	if n = max(n, 0); !ok {
		return nil
	}
	switch x := x.(type) {
	case string:
		b := builder{r: r}
		b.repeat(x, n)
		return b.String()
	case markup:
		b := builder{r: r}
		b.repeat(string(x), n)
		return markup(b.String())
	case []any:
		return r.repeated(x, n)
	case tuple:
		return tuple(r.repeated(x, n))
	}
	return nil
}

func (r *run) repeated(x []any, n int) []any {
	r.spendTimes(itemCost*len(x), n)
	items := make([]any, 0, len(x)*n)
	for range n {
		if len(x) == 0 {
			break
		}
		items = append(items, x...)
	}
	return items
}

// join returns texts joined by a separator.
func (r *run) join(texts []string, separator string) string {
	for _, text := range texts {
		r.spend(len(text) + len(separator))
	}
	return strings.Join(texts, separator)
}

// compare returns the result of a comparison.
func (r *run) compare(operator string, x, y any) bool {
	switch operator {
	case "==":
		return r.equal(x, y)
	case "!=":
		return !r.equal(x, y)
	case "in":
		return r.contains(y, x)
	case "not in":
		return !r.contains(y, x)
	}
	order, ok := r.order(operator, x, y)
	switch {
	case !ok:
		return false
	case operator == "<":
		return order < 0
	case operator == ">":
		return order > 0
	case operator == "<=":
		return order <= 0
	}
	return order >= 0
}

// order compares two values: it returns −1, 0 or 1, and reports whether they can be ordered. NaN cannot.
func (r *run) order(operator string, x, y any) (order int, ok bool) {
	if isNumber(x) && isNumber(y) {
		return orderOfNumbers(x, y)
	}
	s, left := textOf(x)
	t, right := textOf(y)
	if left && right {
		r.spend(min(len(s), len(t)) / 8)
		return strings.Compare(s, t), true
	}
	a, first := sequenceOf(x)
	b, second := sequenceOf(y)
	if !first || !second || typeName(x) != typeName(y) {
		fail("got %s %s %s, want two strings, two numbers or two lists", typeName(x), operator, typeName(y))
	}
	defer r.deeper()()
	for i := range min(len(a), len(b)) {
		r.spend(nodeCost)
		if !r.equal(a[i], b[i]) {
			return r.order(operator, a[i], b[i])
		}
	}
	return len(a) - len(b), true
}

// equal reports whether two values are equal.
func (r *run) equal(x, y any) bool {
	r.spend(nodeCost)
	if isNumber(x) && isNumber(y) {
		order, ok := orderOfNumbers(x, y)
		return ok && order == 0
	}
	s, left := textOf(x)
	t, right := textOf(y)
	if left && right {
		if len(s) == len(t) {
			r.spend(len(s) / 8)
		}
		return s == t
	}
	defer r.deeper()()
	switch x := x.(type) {
	case nil:
		return y == nil
	case undefined:
		_, is := y.(undefined)
		return is
	case *Dict:
		d, ok := y.(*Dict)
		return ok && r.equalDicts(x, d)
	case namespace:
		n, ok := y.(namespace)
		return ok && x.Dict == n.Dict
	}
	a, first := sequenceOf(x)
	b, second := sequenceOf(y)
	if !first || !second || typeName(x) != typeName(y) || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !r.equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (r *run) equalDicts(x, y *Dict) bool {
	if len(x.keys) != len(y.keys) {
		return false
	}
	for _, key := range x.keys {
		if value, ok := y.values[key]; !ok || !r.equal(x.values[key], value) {
			return false
		}
	}
	return true
}

// checkKey returns an error for a value that cannot be a key: a list or a dict.
func checkKey(x any) {
	switch x.(type) {
	case []any, *Dict:
		fail("got %s as a key, want a string or a number", typeName(x))
	}
}

// contains reports whether y is an item of x, a part of the text x, or a key of x.
func (r *run) contains(x, y any) bool {
	if text, ok := textOf(x); ok {
		part, is := textOf(y)
		if !is {
			fail("got %s in a string, want a string", typeName(y))
		}
		r.spend((len(text) + len(part)) / 4)
		return strings.Contains(text, part)
	}
	if d, ok := x.(*Dict); ok {
		checkKey(y)
		name, is := textOf(y)
		_, has := d.Get(name)
		return is && has
	}
	items, ok := r.iterable(x)
	if !ok {
		fail("got %s in %s, want a list, a dict or a string", typeName(y), typeName(x))
	}
	for _, item := range items {
		if r.equal(item, y) {
			return true
		}
	}
	return false
}
