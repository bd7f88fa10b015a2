package run

import (
	"bytes"
	"encoding/json"
	"maps"

	"attention/internal/config"
)

// Leaves returns the values of a JSON object by their paths, such as "model.width", without those that are null.
func Leaves(text []byte) (map[string]any, error) {
	var members map[string]json.RawMessage
	if err := config.Foreign.Decode(text, &members); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	leaves := map[string]any{}
	flatten(leaves, "", tree)
	maps.DeleteFunc(leaves, func(_ string, v any) bool { return v == nil })
	return leaves, nil
}

// flatten writes the leaves of a tree of JSON objects under their paths.
func flatten(leaves map[string]any, path string, tree map[string]any) {
	for key, value := range tree {
		if branch, ok := value.(map[string]any); ok {
			flatten(leaves, path+key+".", branch)
		} else {
			leaves[path+key] = value
		}
	}
}
