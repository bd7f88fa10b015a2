package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"

	"attention/internal/jsonkeys"
)

// strictJSON reads an object whose keys all have to be fields, each once.
func strictJSON(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	return jsonkeys.Unique(text)
}

// Leaves are the values of a JSON object by their paths; null is none.
func Leaves(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("got more behind the JSON object, want nothing")
	}
	if err := jsonkeys.Unique(text); err != nil {
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
