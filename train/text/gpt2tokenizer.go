package text

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// GPT2EndOfText is the id between the texts that GPT-2 was trained on. Encode
// never returns it; Decode returns "<|endoftext|>" for it.
const GPT2EndOfText = 50256

// GPT2Tokenizer is the byte-pair encoding of GPT-2 (Radford et al. 2019, section
// 2.2; tiktoken's gpt2 and r50k_base) with its published vocabulary: its ids are
// those that GPT-2's weights were trained on.
type GPT2Tokenizer struct {
	tokens []string // by their ids
	pairs  bytePairs
}

// gpt2Tokens are the 256 bytes and 50000 merges in the order of their ids: the length of each, a byte, and its bytes.
//
//go:embed gpt2.tokens
var gpt2Tokens string

// gpt2 returns the tokenizer, which is made once.
var gpt2 = sync.OnceValue(func() *GPT2Tokenizer {
	t := &GPT2Tokenizer{pairs: bytePairs{make(map[string]int32, GPT2EndOfText)}}
	for rest := gpt2Tokens; rest != ""; {
		n := 1 + int(rest[0])
		t.pairs.ids[rest[1:n]] = int32(len(t.tokens))
		t.tokens = append(t.tokens, rest[1:n])
		rest = rest[n:]
	}
	return t
})

// NewGPT2Tokenizer returns the tokenizer, whose vocabulary is a part of the
// program.
func NewGPT2Tokenizer() *GPT2Tokenizer { return gpt2() }

// Len returns 50257: 256 bytes, 50000 merges and GPT2EndOfText.
func (*GPT2Tokenizer) Len() int { return GPT2EndOfText + 1 }

// Encode returns the ids of text, which must be UTF-8: the error for a byte that
// is not names it and its offset. "<|endoftext|>" is text like any other.
func (t *GPT2Tokenizer) Encode(text string) ([]int, error) {
	if err := checkUTF8(text); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	ids, j := make([]int, 0, len(text)/3), joiner{bytePairs: t.pairs}
	for len(text) > 0 {
		n := gpt2Word(text)
		ids = j.append(ids, text[:n])
		text = text[n:]
	}
	return ids, nil
}

// Decode returns the text of ids, which is not UTF-8 if they end within a
// character. The error for an id outside [0, 50257) names it and its position.
func (t *GPT2Tokenizer) Decode(ids []int) (string, error) {
	var text strings.Builder
	for i, id := range ids {
		if err := checkID(i, id, t.Len()); err != nil {
			return "", err
		}
		if id == GPT2EndOfText {
			text.WriteString("<|endoftext|>")
			continue
		}
		text.WriteString(t.tokens[id])
	}
	return text.String(), nil
}

// Config returns the config with the name GPT2.
func (*GPT2Tokenizer) Config() TokenizerConfig { return TokenizerConfig{Name: GPT2} }
