package config

import (
	"bytes"
	encodingjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the largest number of nested objects and lists, more than in any config.
const maxDepth = 64

// errDeep names no field, since its path would be too long.
var errDeep = fmt.Errorf("got more than %d objects and lists in each other, want fewer", maxDepth)

// tolerant are the options for a text that check has passed: an escape of half a character becomes U+FFFD.
var tolerant = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// decoderOf returns a decoder of a text that check has passed.
func decoderOf(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), tolerant)
}

// check returns an error unless text is one JSON value of moderate depth with unique keys.
func check(text []byte) error {
	if !utf8.Valid(text) {
		return errorf("not JSON: not UTF-8, want one JSON object")
	}
	if !encodingjson.Valid(text) {
		var whole encodingjson.RawMessage
		return errorf("not JSON: %w, want one JSON object", encodingjson.Unmarshal(text, &whole))
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	for {
		_, err := d.ReadToken()
		if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok { // the only one of valid JSON
			return within(pathOf(d, e.JSONPointer.Parent()),
				errorf("field %.100q comes twice", e.JSONPointer.LastToken()))
		}
		switch depth := d.StackDepth(); {
		case depth > maxDepth:
			return errDeep
		case depth == 0:
			return nil
		}
	}
}

// pathOf returns the path of a value inside the objects and lists that a decoder is in.
func pathOf(d *jsontext.Decoder, p jsontext.Pointer) (path string) {
	depth := 0
	for token := range p.Tokens() {
		depth++
		if kind, _ := d.StackIndex(depth); kind == '[' {
			token = "[" + token + "]"
		}
		path = join(path, token)
	}
	return path
}

// Members yields the keys and the values of a JSON object, in its order. The text must be valid
// JSON; of a value that is no object there are none.
func Members(text []byte) iter.Seq2[string, jsontext.Value] { return parts(text, '{') }

// parts yields the parts of an object, with their keys, or of a list. A value that is neither has none.
func parts(text []byte, begin jsontext.Kind) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		d := decoderOf(text)
		if d.PeekKind() != begin {
			return
		}
		for _, err := d.ReadToken(); err == nil && d.PeekKind() != begin+2; { // } or ]
			var key string
			if begin == '{' {
				token, _ := d.ReadToken()
				key = token.String()
			}
			value, _ := d.ReadValue()
			end := int(d.InputOffset())
			if !yield(key, text[end-len(value):end:end]) {
				return
			}
		}
	}
}
