package mask

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"attention/internal/config"
)

// Decode reads a mask from JSON: an object with a type and the fields of that type. Decode is as strict as the reader
// of configs, and refuses masks that Validate refuses.
func Decode(text []byte) (Mask, error) {
	var m decoded
	if err := config.Decode(text, &m); err != nil {
		return nil, err
	}
	if err := Validate(m.Mask); err != nil {
		return nil, err
	}
	return m.Mask, nil
}

// kinds holds the reader of each type of mask. Each type registers itself.
var kinds = map[string]func(text []byte) (Mask, error){}

// kind reads the type of a mask in JSON, besides its fields.
type kind struct {
	Type string `json:"type"`
}

// fields reads a mask whose JSON fields are those of M.
func fields[M Mask](text []byte) (Mask, error) {
	var m M
	err := config.Decode(text, new(kind), &m)
	return m, err
}

// decoded is a mask of any kind that is read from JSON.
type decoded struct{ Mask }

func (d *decoded) UnmarshalJSON(text []byte) error {
	var k kind
	if err := (config.Reader{AllowUnknown: true}).Decode(text, &k); err != nil {
		return err
	}
	read, ok := kinds[k.Type]
	if !ok {
		return config.JSON(config.Errorf(k, "Type", "got %.60q, want one of %s", k.Type,
			strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")))
	}
	var err error
	d.Mask, err = read(text)
	return err
}

// errNode is the error for writing a mask with a node as JSON.
func errNode(kind string) error {
	return errors.New(kind + " holds a node: give it with the input of a call, not in a config")
}
