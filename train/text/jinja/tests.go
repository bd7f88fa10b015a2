package jinja

// tests are all tests by their names.
var tests map[string]signature

func init() {
	is := func(f func(r *run, x any) bool) signature {
		return entry("", func(r *run, x any, _ given) any { return f(r, x) })
	}
	isNone := func(_ *run, x any) bool { return x == nil }
	isUndefined := func(_ *run, x any) bool { _, none := x.(undefined); return none }
	compares := func(operator string) signature {
		return entry("other", func(r *run, x any, g given) any {
			g.needs(1)
			return r.compare(operator, x, g.at(0, nil))
		})
	}
	tests = map[string]signature{
		"defined":   is(func(r *run, x any) bool { return !isUndefined(r, x) }),
		"undefined": is(isUndefined),
		"none":      is(isNone),
		"true":      is(func(_ *run, x any) bool { b, ok := x.(bool); return ok && b }),
		"false":     is(func(_ *run, x any) bool { b, ok := x.(bool); return ok && !b }),
		"boolean":   is(func(_ *run, x any) bool { _, ok := x.(bool); return ok }),
		"string":    is(func(_ *run, x any) bool { return isString(x) }),
		"integer": is(func(_ *run, x any) bool {
			_, boolean := x.(bool)
			_, ok := integerIn(x)
			return ok && !boolean
		}),
		"float":    is(func(_ *run, x any) bool { return isFloat(x) }),
		"number":   is(func(_ *run, x any) bool { return isNumber(x) }),
		"mapping":  is(func(_ *run, x any) bool { _, ok := x.(*Dict); return ok }),
		"iterable": is(isIterable), "sequence": is(isSequence),
		"callable": is(func(_ *run, x any) bool {
			switch x.(type) {
			case function, method, undefined:
				return true
			}
			return false
		}),
		"odd":  is(func(r *run, x any) bool { return r.equal(r.remainder(x, 2, "odd"), 1) }),
		"even": is(func(r *run, x any) bool { return !truth(r.remainder(x, 2, "even")) }),
		"divisibleby": entry("num", func(r *run, x any, g given) any {
			return !truth(r.remainder(x, g.at(0, nil), "divisibleby"))
		}),
		"lower":   is(func(r *run, x any) bool { s := r.str(x); r.spend(2 * len(s)); return isLower(s) }),
		"upper":   is(func(r *run, x any) bool { s := r.str(x); r.spend(2 * len(s)); return isUpper(s) }),
		"escaped": is(func(_ *run, x any) bool { _, ok := x.(markup); return ok }),
		"filter": is(func(_ *run, x any) bool {
			name, _ := textOf(x)
			_, ok := filters[name]
			return ok
		}),
		"sameas": entry("other", func(r *run, x any, g given) any {
			y := g.at(0, nil)
			return typeName(x) == typeName(y) && isFloat(x) == isFloat(y) && r.equal(x, y)
		}),
		"in": compares("in"),
	}
	for operator, names := range map[string][]string{"==": {"==", "eq", "equalto"}, "!=": {"!=", "ne"},
		">": {">", "gt", "greaterthan"}, "<": {"<", "lt", "lessthan"}, ">=": {">=", "ge"}, "<=": {"<=", "le"}} {
		for _, name := range names {
			tests[name] = compares(operator)
		}
	}
}

// test returns the result of the test with a name for a value.
func (r *run) test(name string, x any, args []any, named *Dict) bool {
	t, ok := tests[name]
	if !ok {
		fail("got the test %.50q, want one of the known ones, such as defined or string", name)
	}
	return t.call(r, name, x, args, named).(bool)
}

func isIterable(_ *run, x any) bool {
	switch x.(type) {
	case string, markup, *Dict, view, *generator, undefined, *loopState:
		return true
	}
	_, ok := sequenceOf(x)
	return ok
}

func isSequence(_ *run, x any) bool {
	switch x.(type) {
	case string, markup, *Dict, undefined:
		return true
	}
	_, ok := sequenceOf(x)
	return ok
}

func (r *run) remainder(x, by any, of string) any {
	if !isNumber(x) || !isNumber(by) {
		fail("%s: got %s and %s, want numbers", of, typeName(x), typeName(by))
	}
	return r.calculateNumbers("%", x, by)
}
