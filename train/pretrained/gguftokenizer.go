package pretrained

import (
	"errors"
	"fmt"
	"strings"

	"attention/internal/gguf"
	"attention/train/text"
)

// ggufVocabulary is a tokenizer as llama.cpp has it.
type ggufVocabulary struct {
	model    string // how texts are cut: gpt2 is byte-pair encoding, rwkv takes the longest token
	pre      string // of gpt2: the pattern of its words
	tokens   []string
	kinds    []int32
	merges   []string
	endsText int // the id that ends a text; −1 if there is none
}

// The kinds of tokens.
const (
	normalToken  = 1
	controlToken = 3
	unusedToken  = 5
)

// ggufVocabulary returns the model's tokenizer. Rows of the model that no id has get names that no text has.
func (g *GPT) ggufVocabulary() (*ggufVocabulary, error) {
	v := &ggufVocabulary{endsText: g.EndOfText}
	unused := `\xff%d` // is not UTF-8
	switch t := g.Tokenizer.(type) {
	case *text.GPT2Tokenizer:
		unused = "[PAD%d]"
		if err := v.fillGPT2(t); err != nil {
			return nil, err
		}
	case *text.Vocabulary:
		v.model = "rwkv"
		for _, r := range t.Characters() {
			v.add(escaped(string(r)), normalToken)
		}
	case text.ByteTokenizer:
		v.model = "rwkv"
		for b := range 256 {
			v.add(escaped(string([]byte{byte(b)})), normalToken)
		}
	case nil:
		return nil, errors.New("tokenizer: got none, want one of characters, bytes or GPT-2's: the file holds it")
	default:
		return nil, fmt.Errorf("tokenizer: got %s, want one of characters, bytes or GPT-2's", t.Config().Name)
	}
	for id := len(v.tokens); id < g.Model.Config().VocabSize; id++ {
		v.add(fmt.Sprintf(unused, id), unusedToken)
	}
	if v.endsText >= 0 {
		v.kinds[v.endsText] = controlToken
	}
	return v, nil
}

func (v *ggufVocabulary) add(token string, kind int32) {
	v.tokens, v.kinds = append(v.tokens, token), append(v.kinds, kind)
}

// fillGPT2 adds GPT-2's tokens and merges.
func (v *ggufVocabulary) fillGPT2(t *text.GPT2Tokenizer) error {
	v.model, v.pre = "gpt2", "gpt-2"
	letters, ids := byteLetters(), map[string]int{}
	name := func(token string) string {
		var letter strings.Builder
		for _, b := range []byte(token) {
			letter.WriteRune(letters[b])
		}
		return letter.String()
	}
	for id := range text.GPT2EndOfText {
		token, err := t.Decode([]int{id})
		if err != nil {
			return err
		}
		if len(token) > 1 {
			left, right := lastMerge(ids, token)
			v.merges = append(v.merges, name(left)+" "+name(right))
		}
		ids[token] = id
		v.add(name(token), normalToken)
	}
	v.add("<|endoftext|>", controlToken)
	return nil
}

// lastMerge returns the two tokens that make up a new token: those that byte-pair encoding by the older ones ends with.
func lastMerge(ids map[string]int, token string) (left, right string) {
	var parts []string
	for i := range len(token) {
		parts = append(parts, token[i:i+1])
	}
	for len(parts) > 2 {
		best, at := len(ids), -1
		for i := range len(parts) - 1 {
			if id, ok := ids[parts[i]+parts[i+1]]; ok && id < best {
				best, at = id, i
			}
		}
		if at < 0 {
			break
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	return parts[0], strings.Join(parts[1:], "")
}

// escaped returns a token as rwkv's form has it: bytes other than printable ASCII ones by their hexadecimal numbers.
func escaped(token string) string {
	var to strings.Builder
	for _, b := range []byte(token) {
		if b > ' ' && b <= '~' && b != '\\' {
			to.WriteByte(b)
			continue
		}
		fmt.Fprintf(&to, `\x%02x`, b)
	}
	return to.String()
}

// settings returns the tokenizer's part of the file.
func (v *ggufVocabulary) settings() []gguf.Setting {
	const key = "tokenizer.ggml."
	all := []gguf.Setting{{Key: key + "model", Value: v.model}, {Key: key + "tokens", Value: v.tokens},
		{Key: key + "token_type", Value: v.kinds}, {Key: key + "add_bos_token", Value: false}}
	if v.model == "rwkv" { // what no token begins with becomes the first one
		all = append(all, gguf.Setting{Key: key + "unknown_token_id", Value: uint32(0)})
	} else {
		all = append(all, gguf.Setting{Key: key + "pre", Value: v.pre},
			gguf.Setting{Key: key + "merges", Value: v.merges})
	}
	if v.endsText >= 0 {
		all = append(all, gguf.Setting{Key: key + "bos_token_id", Value: uint32(v.endsText)},
			gguf.Setting{Key: key + "eos_token_id", Value: uint32(v.endsText)})
	}
	return all
}
