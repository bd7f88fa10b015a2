package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Rule is a rule about two settings of a config: one excludes the other, or one has no meaning without the other. A
// setting is the path of a field that is not zero, such as "RoPE.Dims", or a field and its word, such as "Layout=raw".
type Rule struct {
	Settings      string // separated by spaces
	Exclude, Need string // the other setting; exactly one of the two fields is set
	Why           string // follows the text of the error; may be empty
}

// Check returns an *Error about the first of the rules that config c breaks.
func Check(c any, rules []Rule) error {
	for _, r := range rules {
		other, with, want := r.Exclude, "with", "one of the two"
		if r.Need != "" {
			other, with, want = r.Need, "without", "both"
		}
		if _, set := setting(c, other); set == (r.Need != "") {
			continue
		}
		if r.Why != "" {
			want += ": " + r.Why
		}
		beside, _, _ := strings.Cut(other, "=")
		for s := range strings.FieldsSeq(r.Settings) {
			if got, set := setting(c, s); set {
				field, _, _ := strings.Cut(s, "=")
				return Errorf(c, field, "got %s %s %s%s, want %s", got, with, Field(beside), other[len(beside):], want)
			}
		}
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
