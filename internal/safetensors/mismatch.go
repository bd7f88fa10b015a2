package safetensors

import (
	"errors"
	"strings"

	"attention/internal/oneline"
)

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
