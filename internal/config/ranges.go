package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// AtLeast returns an error for the first field of config c that is less than least, infinite or NaN. The fields are
// paths as in Errorf, of numbers or of pointers to numbers; nil pointers are ignored.
func AtLeast(c any, least int, fields ...string) error {
	return numbers(c, fields, func(x float64, fraction bool) string {
		switch {
		case x >= float64(least) && !math.IsInf(x, 0):
			return ""
		case fraction:
			return fmt.Sprintf("a finite number of at least %d", least)
		}
		return fmt.Sprintf("at least %d", least)
	})
}

// AtMost returns an error for the first field of config c that is greater than most.
func AtMost(c any, most int, fields ...string) error {
	return numbers(c, fields, func(x float64, _ bool) string {
		if x > float64(most) {
			return fmt.Sprintf("at most %d", most)
		}
		return ""
	})
}

// Probability returns an error for the first field of config c that is not in [0, 1).
func Probability(c any, fields ...string) error {
	return numbers(c, fields, func(x float64, _ bool) string {
		if x >= 0 && x < 1 {
			return ""
		}
		return "a number from 0 to below 1"
	})
}

// numbers returns an error for the first field that want refuses. want gets the field's number, and whether its type
// has fractions. It returns a description of the wanted numbers, or "" to accept the number.
func numbers(c any, fields []string, want func(x float64, fraction bool) string) error {
	for _, field := range fields {
		v, ok := valueOf(c, field)
		if v.Kind() == reflect.Pointer && v.IsNil() {
			continue
		}
		v = reflect.Indirect(v)
		if !ok || !v.CanInt() && !v.CanUint() && !v.CanFloat() {
			return fmt.Errorf("config: %T.%s: got no number, want one", c, field)
		}
		x := v.Convert(reflect.TypeFor[float64]()).Float()
		if wanted := want(x, v.CanFloat()); wanted != "" {
			return Errorf(c, field, "got %s, want %s", fmt.Sprint(v), wanted)
		}
	}
	return nil
}

// NotNil returns an error if a config to read into is nil.
func NotNil[C any](c *C) error {
	if c == nil {
		return fmt.Errorf("got a %T that is nil to read into, want one", c)
	}
	return nil
}

// NotPointer returns an error if x is a pointer. It is for values that a type switch selects by their type.
func NotPointer(x any) error {
	if t := reflect.TypeOf(x); t != nil && t.Kind() == reflect.Pointer {
		return fmt.Errorf("got %v, want %v, not a pointer to it", t, t.Elem())
	}
	return nil
}

// OneOf returns an error about a field of config c unless got is one of words.
func OneOf[T ~string](c any, field string, got T, words ...T) error {
	if slices.Contains(words, got) {
		return nil
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return Errorf(c, field, "got %.60q, want one of %s", string(got), strings.Join(list, ", "))
}
