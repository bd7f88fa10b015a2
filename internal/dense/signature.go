package dense

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"attention/internal/oneline"

	"gorgonia.org/tensor"
)

// Signature is a tensor's name and its Form.
type Signature struct{ Name, Form string }

// Signatures returns the signatures of tensors, with a prefix before their names.
func Signatures(prefix string, tensors iter.Seq2[string, *tensor.Dense]) (all []Signature) {
	for name, value := range tensors {
		all = append(all, Signature{prefix + name, Form(value)})
	}
	return all
}

// Compare returns an error that lists the differences between got, in any order and with each name once, and want.
func Compare(want, got []Signature) error {
	forms := map[string]string{}
	for _, g := range got {
		forms[g.Name] = g.Form
	}
	var missing, wrong []string
	for _, w := range want {
		form, ok := forms[w.Name]
		delete(forms, w.Name)
		switch {
		case !ok:
			missing = append(missing, w.Name)
		case form != w.Form:
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", w.Name, form, w.Form))
		}
	}
	return Mismatch(missing, slices.Sorted(maps.Keys(forms)), wrong)
}

// Mismatch returns an error that lists tensors that are missing, unknown or wrong, or nil
// if there are none. A wrong one is a text such as "w is float32 (2), want float32 (3)".
func Mismatch(missing, unknown, wrong []string) error {
	var all []string
	for _, list := range []struct {
		label string
		names []string
	}{{"missing ", missing}, {"unknown ", unknown}, {"", wrong}} {
		if len(list.names) > 0 {
			all = append(all, list.label+oneline.List(list.names, 3))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}
