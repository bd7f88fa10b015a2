package folder

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// UniqueKeys refuses the text of a config.json in which an object has a key twice, of
// which readers would take the last without a word. What is no JSON it leaves to them.
func UniqueKeys(text []byte) error {
	if !json.Valid(text) {
		return nil
	}
	return uniqueKeys(json.NewDecoder(bytes.NewReader(text)))
}

// uniqueKeys reads a value of valid JSON, which is not nested deeply.
func uniqueKeys(dec *json.Decoder) error {
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
		if err := uniqueKeys(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the end
	return err
}
