package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Rule says that a setting of a config excludes another one or, with Needs, has no meaning without it. A setting is the
// path of a field that is not zero, such as "RoPE.Dims", or a field and its word, such as "Layout=raw".
type Rule struct {
	Setting, Other string
	Needs          bool
	Why            string // follows the text of the error; may be empty
}

// Check returns an *Error about the first of the rules that config c breaks.
func Check(c any, rules []Rule) error {
	for _, r := range rules {
		got, set := setting(c, r.Setting)
		if _, other := setting(c, r.Other); !set || other != !r.Needs {
			continue
		}
		with, want, why := "with", "one of the two", r.Why
		if r.Needs {
			with, want = "without", "both"
		}
		if why != "" {
			why = ": " + why
		}
		field, _, _ := strings.Cut(r.Setting, "=")
		other, word, exact := strings.Cut(r.Other, "=")
		if exact {
			word = "=" + word
		}
		return Errorf(c, field, "got %s %s %s%s, want %s%s", got, with, Field(other), word, want, why)
	}
	return nil
}

// setting returns a setting of config c in words, and reports whether it is set.
func setting(c any, s string) (text string, set bool) {
	path, word, exact := strings.Cut(s, "=")
	v, ok := valueOf(c, path)
	if !ok || v.IsZero() || exact && v.String() != word {
		return "", false
	}
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String()), true
	case reflect.Pointer, reflect.Interface:
		return "it", true
	}
	return fmt.Sprint(v.Interface()), true
}
