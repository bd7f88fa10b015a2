package run

import (
	"fmt"
	"strings"
)

// formOf returns the values of a model's config that its weights depend on.
func formOf(c ModelConfig) (tree, error) {
	form, err := treeOf(c)
	drop(form, "embd_pdrop", "attn_pdrop", "resid_pdrop")
	drop(treeAt(form, "attention"), "dropout")
	return form, err
}

// CheckForm returns an error naming the flag that makes a model's weights unfit for this one.
func (c ModelConfig) CheckForm(weights ModelConfig) error {
	form, err := formOf(c)
	if err != nil {
		return err
	}
	made, err := formOf(weights)
	if err != nil {
		return err
	}
	is, want := leaves(tree{"model": form}), leaves(tree{"model": made})
	for _, f := range flags() {
		for _, path := range f.paths {
			if strings.HasPrefix(path, "model.") && is[path] != want[path] {
				return fmt.Errorf("--%s: got %v, want %v, that of the weights", f.name, orZero(is[path]), orZero(want[path]))
			}
		}
	}
	return nil
}

func orZero(value any) any {
	if value == nil {
		return 0
	}
	return value
}
