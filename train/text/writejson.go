package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// object is a JSON object.
type object map[string]any

// wholeJSON returns a tokenizer.json with these parts. All other parts are null.
func wholeJSON(parts object) object {
	whole := object{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []object{}, "normalizer": nil,
		"pre_tokenizer": nil, "post_processor": nil, "decoder": nil}
	maps.Copy(whole, parts)
	return whole
}

// tokenizerText returns a tokenizer.json with these parts as indented text.
func tokenizerText(parts object) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(wholeJSON(parts))
	return text.Bytes(), err
}

// filesOf returns a tokenizer.json with these parts under its file name. The parts must not contain NaN or infinities.
func filesOf(parts object) map[string][]byte {
	text, err := tokenizerText(parts)
	if err != nil {
		panic(err)
	}
	return map[string][]byte{TokenizerFile: text}
}

// bpeJSON returns the model part for a vocabulary and pairs of tokens.
func bpeJSON(tokens, merges any) object {
	return object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
		"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
		"vocab": tokens, "merges": merges}
}

// byteLevelPart returns the pre-tokenizer or the decoder of a byte-level model; cut says whether texts are split into
// words.
func byteLevelPart(cut bool) object {
	return object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": cut, "use_regex": cut}
}

// learnedJSON returns the tokenizer.json of merges, each of which joins two earlier tokens.
func learnedJSON(merges []tokenPair) ([]byte, error) {
	var tokens byID
	for _, b := range bytesInOrder {
		tokens = append(tokens, string(byteLetters[b]))
	}
	pairs := make([][2]string, len(merges))
	for i, m := range merges {
		pairs[i] = [2]string{tokens[m.first], tokens[m.second]}
		tokens = append(tokens, tokens[m.first]+tokens[m.second])
	}
	tokens = append(tokens, endOfText)
	level := byteLevelPart(true)
	return tokenizerText(object{"pre_tokenizer": level, "decoder": level, "model": bpeJSON(tokens, pairs),
		"added_tokens": []object{{"id": len(tokens) - 1, "content": endOfText, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true}}})
}

// Files returns the tokenizer.json of an equal tokenizer under its file name.
func (ByteTokenizer) Files() map[string][]byte {
	level := byteLevelPart(false)
	tokens := make(byID, len(byteLetters))
	for b, letter := range byteLetters {
		tokens[b] = string(letter)
	}
	return filesOf(object{"pre_tokenizer": level, "decoder": level, "model": bpeJSON(tokens, [][2]string{})})
}

// Files returns the tokenizer.json of an equal tokenizer under its file name.
func (v *Vocabulary) Files() map[string][]byte {
	tokens := make(byID, len(v.characters))
	for id, r := range v.characters {
		tokens[id] = string(r)
	}
	return filesOf(object{"decoder": object{"type": "Fuse"},
		"pre_tokenizer": object{"type": "Split", "pattern": object{"Regex": `[\s\S]`}, "behavior": isolated, "invert": false},
		"model":         object{"type": "WordLevel", "vocab": tokens, "unk_token": "[UNK]"}})
}

// byID is a list of tokens by id, in JSON an object in this order.
type byID []string

// MarshalJSON writes the tokens with their ids.
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
