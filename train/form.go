package train

import (
	"errors"
	"fmt"
	"strings"

	"gorgonia.org/tensor"
)

// form is what a named tensor has to agree in with the one it is copied to.
type form struct {
	name string
	is   string // dtype and shape, as in "float32 (2, 3)"
}

// formsOf are the forms of tensors whose names are put behind a prefix.
func formsOf(prefix string, tensors []NamedTensor) []form {
	forms := make([]form, len(tensors))
	for i, t := range tensors {
		forms[i] = form{prefix + t.Name, describe(t.Value)}
	}
	return forms
}

func describe(d *tensor.Dense) string {
	switch {
	case d == nil:
		return "nil"
	case checkLayout("", d) != nil:
		return fmt.Sprintf("a view of %v %v", d.Dtype(), d.Shape())
	}
	return fmt.Sprintf("%v %v", d.Dtype(), d.Shape())
}

// shorten lists the first of many.
func shorten(list []string) string {
	const most = 3
	text := strings.Join(list[:min(len(list), most)], ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// compareForms lists what keeps got, in any order, from being want.
func compareForms(want, got []form) error {
	given := make(map[string]string, len(got))
	var missing, unknown, repeated, wrong []string
	for _, g := range got {
		if _, twice := given[g.name]; twice {
			repeated = append(repeated, g.name)
		}
		given[g.name] = g.is
	}
	known := make(map[string]bool, len(want))
	for _, w := range want {
		known[w.name] = true
		switch is, ok := given[w.name]; {
		case !ok:
			missing = append(missing, w.name)
		case is != w.is:
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", w.name, is, w.is))
		}
	}
	for _, g := range got {
		if !known[g.name] {
			unknown = append(unknown, g.name)
		}
	}
	var all []string
	for _, list := range []struct {
		label string
		names []string
	}{{"missing ", missing}, {"unknown ", unknown}, {"repeated ", repeated}, {"", wrong}} {
		if len(list.names) > 0 {
			all = append(all, list.label+shorten(list.names))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}
