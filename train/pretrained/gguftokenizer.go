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
	model  string // how texts are cut: gpt2 is byte-pair encoding, llama SentencePiece's, rwkv takes the longest token
	pre    string // of gpt2: the name of how words are cut
	tokens []string
	kinds  []int32
	merges []string  // of gpt2
	scores []float32 // of llama
	blank  bool      // of llama: a blank is put before a text
	// begin and end are the ids that the template puts before a text and behind it; −1 if there are none.
	begin, end int
}

// The kinds of tokens.
const (
	normalToken  = 1
	unknownToken = 2
	controlToken = 3
	userToken    = 4 // looked for in texts before they are cut
	unusedToken  = 5
	byteToken    = 6
)

// ggufVocabulary returns the model's tokenizer. Rows of the model that no id has get names that no text has.
func (g *GPT) ggufVocabulary() (*ggufVocabulary, error) {
	v := &ggufVocabulary{model: "rwkv", begin: -1, end: -1}
	switch t := g.Tokenizer.(type) {
	case *text.BPETokenizer:
		if err := v.fillBPE(t); err != nil {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
	case *text.Vocabulary:
		for _, r := range t.Characters() {
			v.add(escaped(string(r)), normalToken)
		}
	case text.ByteTokenizer:
		for b := range 256 {
			v.add(escaped(string([]byte{byte(b)})), normalToken)
		}
	case nil:
		return nil, errors.New("tokenizer: got none, want one: the file holds it")
	default:
		return nil, fmt.Errorf("tokenizer: got %s, want one of characters, bytes or pairs of bytes", t.Config().Name)
	}
	unused := "[PAD%d]"
	if v.model == "rwkv" {
		unused = `\xff%d` // is not UTF-8
	}
	for id := len(v.tokens); id < g.Model.Config().VocabSize; id++ {
		v.add(fmt.Sprintf(unused, id), unusedToken)
	}
	if g.EndOfText >= 0 {
		v.kinds[g.EndOfText] = controlToken
	}
	return v, nil
}

func (v *ggufVocabulary) add(token string, kind int32) {
	v.tokens, v.kinds = append(v.tokens, token), append(v.kinds, kind)
	if v.model == "llama" {
		v.scores = append(v.scores, 0)
	}
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

// vocabularySettings returns the tokenizer's part of the file.
func (g *GPT) vocabularySettings(v *ggufVocabulary) []gguf.Setting {
	var all []gguf.Setting
	set := func(key string, value any) {
		all = append(all, gguf.Setting{Key: "tokenizer.ggml." + key, Value: value})
	}
	set("model", v.model)
	set("tokens", v.tokens)
	set("token_type", v.kinds)
	switch v.model {
	case "gpt2":
		set("pre", v.pre)
		set("merges", v.merges)
	case "llama":
		set("scores", v.scores)
		set("add_space_prefix", v.blank)
	default: // what no token begins with becomes the first one
		set("unknown_token_id", uint32(0))
	}
	set("add_bos_token", v.begin >= 0)
	set("add_eos_token", v.end >= 0)
	begin := v.begin
	if begin < 0 {
		begin = g.EndOfText
	}
	if begin >= 0 {
		set("bos_token_id", uint32(begin))
	}
	if g.EndOfText >= 0 {
		set("eos_token_id", uint32(g.EndOfText))
	}
	return all
}
