package jinja

import (
	"math"
	"strings"
)

// binary is an operator between two values.
type binary struct {
	operator string
	x, y     expression
}

func (e binary) evaluate(r *run) any {
	r.took(1)
	x, y := e.x.evaluate(r), e.y.evaluate(r)
	switch e.operator {
	case "==":
		return equal(x, y)
	case "!=":
		return !equal(x, y)
	case "in":
		return r.contains(y, x)
	}
	if a, b, ok := numbersOf(x, y); ok {
		if value, ok := calculate(e.operator, x, y, a, b); ok {
			return value
		}
	}
	if value, ok := r.join(e.operator, x, y); ok {
		return value
	}
	fail("got %s %s %s, want values that this operator takes", typeName(x), e.operator, typeName(y))
	return nil
}

// contains reports whether x has an item, a part or a key y.
func (r *run) contains(x, y any) bool {
	switch x := x.(type) {
	case []any:
		r.took(len(x))
		for _, item := range x {
			if equal(item, y) {
				return true
			}
		}
		return false
	case string:
		if part, ok := y.(string); ok {
			return strings.Contains(r.long(x), part)
		}
	case *Dict:
		name, ok := y.(string)
		_, has := x.Get(name)
		return ok && has
	case undefined:
		return false
	}
	fail("got %s in %s, want a list, a dict or a string in a string", typeName(y), typeName(x))
	return false
}

// join returns two lists or texts together, or compares two texts, and reports whether the operator does that.
func (r *run) join(operator string, x, y any) (any, bool) {
	a, first := x.([]any)
	b, second := y.([]any)
	if operator == "+" && first && second {
		r.took(1 + (len(a)+len(b))/2)
		return append(append(make([]any, 0, len(a)+len(b)), a...), b...), true
	}
	s, left := x.(string)
	t, right := y.(string)
	switch {
	case operator == "~" && scalar(x) && scalar(y) || operator == "+" && (left && scalar(y) || right && scalar(x)):
		return r.long(r.textOf(x) + r.textOf(y)), true
	case left && right:
		return compare(operator, strings.Compare(s, t))
	}
	return nil, false
}

// scalar reports whether a value can be a part of a text.
func scalar(x any) bool {
	switch x.(type) {
	case bool, int, float64, string:
		return true
	}
	return false
}

// compare returns what an operator says of an order, and reports whether it compares.
func compare(operator string, order int) (any, bool) {
	switch operator {
	case "<":
		return order < 0, true
	case ">":
		return order > 0, true
	case "<=":
		return order <= 0, true
	case ">=":
		return order >= 0, true
	}
	return nil, false
}

// calculate returns the result of an operator on numbers x and y, which are a and b, and reports whether it has one.
func calculate(operator string, x, y any, a, b float64) (any, bool) {
	order := 0
	if a < b {
		order = -1
	} else if a > b {
		order = 1
	}
	if value, ok := compare(operator, order); ok {
		return value, true
	}
	var z float64
	switch operator {
	case "+":
		z = a + b
	case "-":
		z = a - b
	case "*":
		z = a * b
	case "**":
		z = math.Pow(a, b)
	case "/", "//", "%":
		if b == 0 {
			fail("got a division by 0, want another number")
		}
		if z = a / b; operator == "/" {
			return z, true
		}
		if z = math.Floor(z); operator == "%" {
			z = a - b*z
		}
	default:
		return nil, false
	}
	_, real := x.(float64)
	_, also := y.(float64)
	if real || also || operator == "**" && b < 0 {
		return z, true
	}
	if math.Abs(z) > 1<<53 {
		fail("got a whole number above 2**53, want smaller ones")
	}
	return int(z), true
}
