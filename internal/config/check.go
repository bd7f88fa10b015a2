package config

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return errorf("not JSON: %w, want one JSON object", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return unique(dec, 0)
}

// unique reads a value inside depth objects and lists. It refuses an object with a
// duplicate key, of which encoding/json would silently take the last.
func unique(dec *json.Decoder, depth int) error {
	begin, err := dec.Token()
	if _, compound := begin.(json.Delim); !compound || err != nil {
		return err
	}
	if depth == maxDepth {
		return errDeep
	}
	seen := map[string]bool{}
	for i := 0; dec.More(); i++ {
		var key string
		if begin == json.Delim('{') {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string) // JSON has no other keys
			if seen[key] {
				return errorf("field %.100q comes twice", key)
			}
			seen[key] = true
		}
		if err := unique(dec, depth+1); err != nil && begin == json.Delim('{') {
			return within(foreign(key), err)
		} else if err != nil {
			return within(index(i), err)
		}
	}
	_, err = dec.Token() // the end
	return err
}
