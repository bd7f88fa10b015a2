package train

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

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
	case checkLayout("", d) != nil:
		return fmt.Sprintf("a view of %v %v", d.Dtype(), d.Shape())
	}
	return fmt.Sprintf("%v %v", d.Dtype(), d.Shape())
}

// compareSignatures returns an error that lists how got, in any order and each name once,
// differs from want.
func compareSignatures(want, got []signature) error {
	forms := map[string]string{}
	for _, g := range got {
		forms[g.name] = g.form
	}
	var missing, unknown, wrong []string
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
	for name := range forms {
		unknown = append(unknown, name)
	}
	slices.Sort(unknown)
	var all []string
	for _, list := range []struct {
		label string
		names []string
	}{{"missing ", missing}, {"unknown ", unknown}, {"", wrong}} {
		if len(list.names) > 0 {
			all = append(all, list.label+shorten(list.names))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}

// shorten returns the first of a list and the number of the others.
func shorten(list []string) string {
	const most = 3
	text := strings.Join(list[:min(len(list), most)], ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
