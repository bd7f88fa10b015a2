package text

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object.
type object map[string]any

// learnedJSON returns the tokenizer.json of merges, each of which makes a token of two before it.
func learnedJSON(merges []tokenPair) ([]byte, error) {
	tokens := make([]string, 0, leastLearned+len(merges))
	for _, b := range bytesInOrder {
		tokens = append(tokens, string(byteLetters[b]))
	}
	pairs := make([][2]string, len(merges))
	for i, m := range merges {
		pairs[i] = [2]string{tokens[m.first], tokens[m.second]}
		tokens = append(tokens, tokens[m.first]+tokens[m.second])
	}
	tokens = append(tokens, endOfText)
	level := object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	whole := object{
		"version": "1.0", "truncation": nil, "padding": nil, "normalizer": nil, "post_processor": nil,
		"pre_tokenizer": level, "decoder": level,
		"added_tokens": []object{{"id": len(tokens) - 1, "content": endOfText, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true}},
		"model": object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
			"vocab": byID(tokens), "merges": pairs},
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(whole)
	return text.Bytes(), err
}

// byID is tokens whose JSON is an object of their ids, in the order of these.
type byID []string

// MarshalJSON returns the object.
func (tokens byID) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for id, token := range tokens {
		name, err := json.Marshal(token)
		if err != nil {
			return nil, err
		}
		if id > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(append(text, name...), ":%d", id)
	}
	return append(text, '}'), nil
}
