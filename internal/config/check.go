package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxDepth is the most objects and lists in each other: more than in any config.
const maxDepth = 64

// errDeep names no field, since its path would be too long.
var errDeep = fmt.Errorf("got more than %d objects and lists in each other, want fewer", maxDepth)

// check returns an error unless text is one JSON value of moderate depth with unique keys.
func check(text []byte) error {
	if !utf8.Valid(text) {
		return errorf("not JSON: not UTF-8, want one JSON object")
	}
	if !json.Valid(text) {
		var whole json.RawMessage
		return errorf("not JSON: %w, want one JSON object", json.Unmarshal(text, &whole))
	}
	return unique(trim(text), 0)
}

// unique checks a value inside depth objects and lists. It refuses an object with a
// duplicate key, of which encoding/json would silently take the last.
func unique(value []byte, depth int) error {
	if value[0] != '{' && value[0] != '[' {
		return nil
	}
	if depth == maxDepth {
		return errDeep
	}
	var seen keys
	for key, member := range Members(value) {
		if !seen.add(key) {
			return errorf("field %.100q comes twice", key)
		}
		if err := unique(member, depth+1); err != nil {
			return within(foreign(key), err)
		}
	}
	if value[0] == '{' {
		return nil
	}
	i := 0
	for item := range items(value) {
		if err := unique(item, depth+1); err != nil {
			return within(index(i), err)
		}
		i++
	}
	return nil
}

// keys are the keys of an object: of a small one a list, which is quicker than a map.
type keys struct {
	few  []string
	many map[string]bool
}

// add adds a key and reports whether it is new.
func (k *keys) add(key string) bool {
	const few = 16
	if k.many == nil {
		if slices.Contains(k.few, key) {
			return false
		}
		if len(k.few) < few {
			k.few = append(k.few, key)
			return true
		}
		k.many = make(map[string]bool, 2*few)
		for _, old := range k.few {
			k.many[old] = true
		}
	}
	if k.many[key] {
		return false
	}
	k.many[key] = true
	return true
}
