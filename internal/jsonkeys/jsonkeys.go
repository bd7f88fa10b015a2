// Package jsonkeys looks at the keys of JSON objects.
package jsonkeys

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Unique refuses JSON in which an object has a key twice, of which encoding/json would take
// the last without a word. Keys that differ in case are different. What is no JSON it leaves
// to its readers.
func Unique(text []byte) error {
	if !json.Valid(text) {
		return nil
	}
	return unique(json.NewDecoder(bytes.NewReader(text)))
}

// unique reads a value of valid JSON, which is not nested deeply.
func unique(dec *json.Decoder) error {
	begin, err := dec.Token()
	if _, compound := begin.(json.Delim); !compound || err != nil {
		return err
	}
	seen := map[json.Token]bool{}
	for dec.More() {
		if begin == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return fmt.Errorf("field %.100q comes twice", key)
			}
			seen[key] = true
		}
		if err := unique(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the end
	return err
}
