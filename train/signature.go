package train

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// signature is a tensor's name, and its dtype and shape as in "float32 (2, 3)".
type signature struct{ name, form string }

// signatures returns the signatures of tensors, with a prefix before their names.
func signatures(prefix string, tensors iter.Seq2[string, *tensor.Dense]) (all []signature) {
	for name, value := range tensors {
		all = append(all, signature{prefix + name, formOf(value)})
	}
	return all
}

// formOf returns the form of a tensor. A view has one that no other tensor has.
func formOf(d *tensor.Dense) string {
	switch {
	case d == nil:
		return "nil"
	case d.Dtype().Type == nil:
		return "an empty tensor"
	case !isContiguous(d):
		return fmt.Sprintf("a view of %v %v", d.Dtype(), d.Shape())
	}
	return fmt.Sprintf("%v %v", d.Dtype(), d.Shape())
}

// withoutPrefix returns the signatures without those whose names have a prefix, and those.
func withoutPrefix(all []signature, prefix string) (without, with []signature) {
	for _, s := range all {
		if strings.HasPrefix(s.name, prefix) {
			with = append(with, s)
		} else {
			without = append(without, s)
		}
	}
	return without, with
}

// list returns the first names of a list and the number of the others.
func list(names []string) string {
	const most = 3
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// compareSignatures returns an error that lists how got, in any order and each name once,
// differs from want.
func compareSignatures(want, got []signature) error {
	forms := map[string]string{}
	for _, g := range got {
		forms[g.name] = g.form
	}
	var missing, wrong []string
	for _, w := range want {
		form, ok := forms[w.name]
		delete(forms, w.name)
		switch {
		case !ok:
			missing = append(missing, w.name)
		case form != w.form:
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", w.name, form, w.form))
		}
	}
	return safetensors.Mismatch(missing, slices.Sorted(maps.Keys(forms)), wrong)
}
