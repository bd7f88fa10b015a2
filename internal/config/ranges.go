package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// AtLeast returns an error for the first field of config c that is less than least,
// infinite or NaN. The fields are paths as for Errorf, of numbers.
func AtLeast(c any, least int, fields ...string) error {
	for _, field := range fields {
		v, err := number(c, field)
		switch {
		case err != nil:
			return err
		case v.CanInt() && v.Int() < int64(least), v.CanUint() && (least > 0 && v.Uint() < uint64(least)):
			return Errorf(c, field, "got %s, want at least %d", fmt.Sprint(v), least)
		case v.CanFloat() && (!(v.Float() >= float64(least)) || math.IsInf(v.Float(), 0)):
			return Errorf(c, field, "got %s, want a finite number of at least %d", fmt.Sprint(v), least)
		}
	}
	return nil
}

// AtMost returns an error for the first field of config c that is greater than most.
func AtMost(c any, most int, fields ...string) error {
	for _, field := range fields {
		v, err := number(c, field)
		if err != nil {
			return err
		}
		if v.Convert(reflect.TypeFor[float64]()).Float() > float64(most) {
			return Errorf(c, field, "got %s, want at most %d", fmt.Sprint(v), most)
		}
	}
	return nil
}

// Probability returns an error for the first field of config c that is not in [0, 1).
func Probability(c any, fields ...string) error {
	for _, field := range fields {
		v, err := number(c, field)
		if err != nil {
			return err
		}
		if p := v.Convert(reflect.TypeFor[float64]()).Float(); !(p >= 0 && p < 1) {
			return Errorf(c, field, "got %s, want a number from 0 to below 1", fmt.Sprint(v))
		}
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

func number(c any, field string) (reflect.Value, error) {
	v, ok := valueOf(c, field)
	if !ok || !v.CanInt() && !v.CanUint() && !v.CanFloat() {
		return v, fmt.Errorf("config: %T.%s: got no number, want one", c, field)
	}
	return v, nil
}
