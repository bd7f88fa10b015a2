package run

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"attention/internal/config"
)

// A tree is a JSON object as maps, with numbers as json.Number. It may hold only some of a config's values.
type tree = map[string]any

// parseTree parses a config.json or a part of one. A null counts as absent.
func parseTree(text []byte) (tree, error) {
	var members map[string]json.RawMessage // strict: also refuses duplicate keys
	if err := config.Foreign.Decode(text, &members); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var t tree
	if err := dec.Decode(&t); err != nil {
		return nil, err
	}
	dropNulls(t)
	return t, nil
}

// treeOf returns the JSON of v as a tree.
func treeOf(v any) (tree, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return parseTree(text)
}

// decode reads a tree into a config. Its errors name JSON paths.
func (c *Config) decode(t tree) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return config.Decode(text, c)
}

// dropNulls deletes the null values of a tree.
func dropNulls(t tree) {
	maps.DeleteFunc(t, func(_ string, value any) bool {
		if inner, ok := value.(tree); ok {
			dropNulls(inner)
		}
		return value == nil
	})
}

// typesOf returns the types of the model and the schedule of a tree, or else the defaults.
func typesOf(t tree) (model, schedule string) {
	model, schedule = LayerModel, cosineSchedule
	if name, ok := treeAt(t, "model")["type"].(string); ok {
		model = name
	}
	if name, ok := treeAt(t, "training.schedule")["type"].(string); ok {
		schedule = name
	}
	return model, schedule
}

// at returns the value at a path such as "model.width".
func at(t tree, path string) (value any, ok bool) {
	value = t
	for key := range strings.SplitSeq(path, ".") {
		inner, _ := value.(tree)
		value, ok = inner[key]
	}
	return value, ok
}

// treeAt returns the object at a path, or nil.
func treeAt(t tree, path string) tree {
	value, _ := at(t, path)
	inner, _ := value.(tree)
	return inner
}

// setAt sets the value at a path and creates the objects around it.
func setAt(t tree, path string, value any) {
	for key, rest, inner := strings.Cut(path, "."); inner; key, rest, inner = strings.Cut(rest, ".") {
		next, ok := t[key].(tree)
		if !ok {
			next = tree{}
			t[key] = next
		}
		t, path = next, rest
	}
	t[path] = value
}

// leaves returns the values of a tree by their paths.
func leaves(t tree) map[string]any {
	all := map[string]any{}
	addLeaves(all, "", t)
	return all
}

func addLeaves(all map[string]any, path string, t tree) {
	for key, value := range t {
		if inner, ok := value.(tree); ok {
			addLeaves(all, path+key+".", inner)
		} else {
			all[path+key] = value
		}
	}
}
