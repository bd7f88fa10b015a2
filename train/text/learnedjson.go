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
	tokens := make([]string, leastLearned-1, leastLearned+len(merges))
	letters := byteLetters()
	for b, id := range byteIDs() {
		tokens[id] = string(letters[b])
	}
	pairs := make([][2]string, len(merges))
	for i, m := range merges {
		pairs[i] = [2]string{tokens[m.first], tokens[m.second]}
		tokens = append(tokens, tokens[m.first]+tokens[m.second])
	}
	tokens = append(tokens, EndOfText)
	level := object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	whole := object{
		"version": "1.0", "truncation": nil, "padding": nil, "normalizer": nil, "post_processor": nil,
		"pre_tokenizer": level, "decoder": level,
		"added_tokens": []object{{"id": len(tokens) - 1, "content": EndOfText, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true}},
		"model": object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
			"vocab": inOrder(tokens), "merges": pairs},
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(whole)
	return text.Bytes(), err
}

// inOrder is tokens whose JSON is an object of their ids, in their order.
type inOrder []string

// MarshalJSON returns the object.
func (tokens inOrder) MarshalJSON() ([]byte, error) {
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

// byteIDs returns the ids of bytes in the order of their letters.
func byteIDs() (ids [256]int32) {
	var next int32
	letters := byteLetters()
	for _, printable := range []bool{true, false} {
		for b, letter := range letters {
			if (int(letter) == b) == printable {
				ids[b] = next
				next++
			}
		}
	}
	return ids
}

// byteLetters returns the characters that stand for bytes in a vocabulary: a printable byte is itself, the others are
// U+0100, U+0101, … in order.
func byteLetters() (letters [256]rune) {
	next := rune(0x100)
	for b := range letters {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			letters[b] = rune(b)
			continue
		}
		letters[b] = next
		next++
	}
	return letters
}
