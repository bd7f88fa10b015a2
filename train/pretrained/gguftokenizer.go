package pretrained

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"attention/internal/config"
	"attention/internal/gguf"
	"attention/train/text"
)

// ggufVocabulary is a tokenizer in llama.cpp's form.
type ggufVocabulary struct {
	model  string // the algorithm: gpt2 is byte-pair encoding, llama SentencePiece's, rwkv takes the longest token
	pre    string // with gpt2: the name of the way to split words
	tokens []string
	kinds  []int32
	merges []string  // of gpt2
	scores []float32 // of llama
	blank  bool      // with llama: whether a blank is put before a text
	// begin, end and unknown are the ids of the tokens that begin and end a text and stand for unknown characters; −1
	// if there are none.
	begin, end, unknown int
	addsBegin, addsEnd  bool   // whether a text gets these tokens
	template            string // of conversations; "" if there is none
}

// ggufVocabulary returns the model's tokenizer. Rows of the model without an id get names that no text contains.
func (g *GPT) ggufVocabulary() (*ggufVocabulary, error) {
	v := &ggufVocabulary{model: "rwkv", begin: g.beginOfText(), end: g.EndOfText, unknown: -1}
	switch t := g.Tokenizer.(type) {
	case *text.SubwordTokenizer:
		if err := v.fillBPE(t); err != nil {
			return nil, fmt.Errorf("tokenizer: %w", err)
		}
	case *text.Vocabulary:
		for _, r := range t.Characters() {
			v.add(escaped(string(r)), gguf.NormalToken)
		}
	case text.ByteTokenizer:
		for b := range 256 {
			v.add(escaped(string([]byte{byte(b)})), gguf.NormalToken)
		}
	case nil:
		return nil, errors.New("tokenizer: got none, want one: the file holds it")
	default:
		return nil, fmt.Errorf("tokenizer: got %s, want one of characters, bytes or pairs of bytes", t.Config().Name)
	}
	unused := "[PAD%d]"
	if v.model == "rwkv" {
		unused = `\xff%d` // is not UTF-8
		v.unknown = 0     // text that no token matches becomes the first token
	}
	for id := len(v.tokens); id < g.Model.Config().VocabSize; id++ {
		v.add(fmt.Sprintf(unused, id), gguf.UnusedToken)
	}
	if v.end >= 0 {
		v.kinds[v.end] = gguf.ControlToken
	}
	if v.template = g.ChatTemplate; v.template != "" {
		return v, nil
	}
	var err error
	v.template, err = g.origin.chatTemplate()
	return v, err
}

func (v *ggufVocabulary) add(token string, kind int32) {
	v.tokens, v.kinds = append(v.tokens, token), append(v.kinds, kind)
	if v.model == "llama" {
		v.scores = append(v.scores, 0)
	}
}

// beginOfText returns the id of the token that begins a text, by config.json, or else the id of the token between
// texts; −1 if there is none.
func (g *GPT) beginOfText() int {
	var of struct {
		BOS any `json:"bos_token_id"`
	}
	if g.origin != nil && config.Foreign.Decode(g.origin.config, &of) == nil {
		if id, ok := of.BOS.(float64); ok && id >= 0 && id < float64(g.Model.Config().VocabSize) {
			return int(id)
		}
	}
	return g.EndOfText
}

// chatTemplate returns the source of a folder's template of conversations, "" if there is none.
func (o *origin) chatTemplate() (string, error) {
	if o == nil || o.dir == "" {
		return "", nil
	}
	source, err := text.TemplateSource(o.dir)
	if errors.Is(err, text.ErrNoTemplate) {
		return "", nil
	}
	return source, err
}

// escaped returns a token in rwkv's form: bytes other than printable ASCII ones are written as hexadecimal numbers.
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

// unescaped returns a token from rwkv's form; it is the inverse of escaped.
func unescaped(token string) (to []byte) {
	for len(token) > 0 {
		n := 1
		if b, err := hex.DecodeString(token[min(2, len(token)):min(4, len(token))]); token[0] == '\\' && err == nil && len(b) == 1 {
			to, n = append(to, b[0]), 4
		} else {
			to = append(to, token[0])
		}
		token = token[n:]
	}
	return to
}

// settings returns the tokenizer's part of the file.
func (v *ggufVocabulary) settings() []gguf.Setting {
	const key = "tokenizer.ggml."
	all := []gguf.Setting{{Key: key + "model", Value: v.model}, {Key: key + "tokens", Value: v.tokens},
		{Key: key + "token_type", Value: v.kinds}, {Key: key + "add_bos_token", Value: v.addsBegin},
		{Key: key + "add_eos_token", Value: v.addsEnd}}
	switch v.model {
	case "gpt2":
		all = append(all, gguf.Setting{Key: key + "pre", Value: v.pre},
			gguf.Setting{Key: key + "merges", Value: v.merges})
	case "llama":
		all = append(all, gguf.Setting{Key: key + "scores", Value: v.scores},
			gguf.Setting{Key: key + "add_space_prefix", Value: v.blank})
	}
	for _, of := range []struct {
		name string
		id   int
	}{{"bos", v.begin}, {"eos", v.end}, {"unknown", v.unknown}} {
		if of.id >= 0 {
			all = append(all, gguf.Setting{Key: key + of.name + "_token_id", Value: uint32(of.id)})
		}
	}
	if v.template != "" {
		all = append(all, gguf.Setting{Key: "tokenizer.chat_template", Value: v.template})
	}
	return all
}
