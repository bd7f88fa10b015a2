package safetensors

import (
	"fmt"
	"maps"
	"slices"
)

// Signature is a tensor's name, and its type and shape, as in "float32 (2, 3)".
type Signature struct{ Name, Form string }

// Compare returns an error that lists how got, in any order and each name once, differs from
// want.
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
