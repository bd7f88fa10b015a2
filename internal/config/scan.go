package config

import (
	"bytes"
	"encoding/json"
	"iter"
)

// The functions below walk through valid JSON and copy nothing but keys.

// Members yields the keys and the values of a JSON object, in its order. The text must be valid
// JSON; of a value that is no object there are none.
func Members(text []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		at := skipSpace(text, 0)
		if at == len(text) || text[at] != '{' {
			return
		}
		for at = skipSpace(text, at+1); at < len(text) && text[at] != '}'; at = nextElement(text, at) {
			end := stringEnd(text, at)
			key := unquote(text[at:end])
			at = skipSpace(text, skipSpace(text, end)+1) // behind the colon
			end = valueEnd(text, at)
			if !yield(key, text[at:end:end]) {
				return
			}
			at = end
		}
	}
}

// items yields the values of a list in valid JSON.
func items(list []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for at := skipSpace(list, 1); at < len(list) && list[at] != ']'; at = nextElement(list, at) {
			end := valueEnd(list, at)
			if !yield(list[at:end:end]) {
				return
			}
			at = end
		}
	}
}

// nextElement returns the index of the next member or item, or of the end of the object or list,
// after a value that ends at text[at].
func nextElement(text []byte, at int) int {
	at = skipSpace(text, at)
	if at < len(text) && text[at] == ',' {
		at = skipSpace(text, at+1)
	}
	return at
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
		at++
	}
	return at
}

// stringEnd returns the index after the string that begins at text[at].
func stringEnd(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// valueEnd returns the index after the value that begins at text[at].
func valueEnd(text []byte, at int) int {
	for depth := 0; at < len(text); {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			at++
			continue
		default:
			for at < len(text) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(text[at])) {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// unquote returns the text of a string in valid JSON.
func unquote(quoted []byte) (s string) {
	if !bytes.ContainsRune(quoted, '\\') {
		return string(quoted[1 : len(quoted)-1])
	}
	_ = json.Unmarshal(quoted, &s) // which is valid
	return s
}
