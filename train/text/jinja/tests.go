package jinja

import "strings"

// tests are all tests by their names, of a value and arguments.
var tests = map[string]func(x any, args []any) bool{
	"defined":   func(x any, _ []any) bool { _, none := x.(undefined); return !none },
	"undefined": func(x any, _ []any) bool { _, none := x.(undefined); return none },
	"none":      func(x any, _ []any) bool { return x == nil },
	"true":      func(x any, _ []any) bool { return x == true },
	"false":     func(x any, _ []any) bool { return x == false },
	"boolean":   func(x any, _ []any) bool { _, ok := x.(bool); return ok },
	"string":    func(x any, _ []any) bool { return isString(x) },
	"integer":   func(x any, _ []any) bool { _, ok := x.(int); return ok },
	"float":     func(x any, _ []any) bool { _, ok := x.(float64); return ok },
	"number":    func(x any, _ []any) bool { _, is := x.(bool); _, ok := numberOf(x); return ok && !is },
	"mapping":   func(x any, _ []any) bool { _, ok := x.(*Dict); return ok },
	"iterable":  func(x any, _ []any) bool { _, ok := x.([]any); return ok || isString(x) },
	"sequence":  func(x any, _ []any) bool { _, ok := x.([]any); _, is := x.(*Dict); return ok || is || isString(x) },
	"callable":  func(x any, _ []any) bool { _, ok := x.(function); return ok },
	"odd":       func(x any, _ []any) bool { return remainder(x) != 0 },
	"even":      func(x any, _ []any) bool { return remainder(x) == 0 },
	"lower":     func(x any, _ []any) bool { s, ok := x.(string); return ok && s == strings.ToLower(s) },
	"upper":     func(x any, _ []any) bool { s, ok := x.(string); return ok && s == strings.ToUpper(s) },
	"equalto":   equalTo, "eq": equalTo, "==": equalTo,
	"ne": func(x any, args []any) bool { return !equalTo(x, args) },
	"in": func(x any, args []any) bool { return len(args) > 0 && (&run{}).contains(args[0], x) },
}

// testOf returns the test with a name.
func testOf(name string) func(x any, args []any) bool {
	t, ok := tests[name]
	if !ok {
		fail("got the test %.50q, want one of the known ones, such as defined or string", name)
	}
	return t
}

func equalTo(x any, args []any) bool {
	if len(args) == 0 {
		fail("equalto: got no argument, want the value to be equal to")
	}
	return equal(x, args[0])
}

func remainder(x any) int {
	n, ok := x.(int)
	if !ok {
		fail("got %s, want a whole number that is odd or even", typeName(x))
	}
	return n % 2
}
