package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// GPT2EndOfText is the id between the texts that GPT-2 was trained on. Encode
// never returns it; Decode returns "<|endoftext|>" for it.
const GPT2EndOfText = 50256

// GPT2Tokenizer is the byte-pair encoding of GPT-2 (Radford et al. 2019, section
// 2.2; tiktoken's gpt2 and r50k_base) with its published vocabulary: its ids are
// those that GPT-2's weights were trained on.
type GPT2Tokenizer struct {
	codec *codec.Codec
}

// NewGPT2Tokenizer returns the tokenizer, whose vocabulary is compiled into the
// program.
func NewGPT2Tokenizer() *GPT2Tokenizer { return &GPT2Tokenizer{codec.NewR50kBase()} }

// Len returns 50257: 256 bytes, 50000 merges and GPT2EndOfText.
func (*GPT2Tokenizer) Len() int { return GPT2EndOfText + 1 }

// The codec's splitter drops the character U+007F (tokenizer v0.10.0). U+0000 is
// split as it should be: neither is a letter, number or space, and no merge has
// one of them.
const (
	del, delID         = "\x7f", 221
	standIn, standInID = "\x00", 188
)

// Encode returns the ids of text, which must be UTF-8: the error for a byte that
// is not names it and its offset. "<|endoftext|>" is text like any other.
func (t *GPT2Tokenizer) Encode(text string) ([]int, error) {
	if err := checkUTF8(text); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	ids := make([]int, 0, len(text)/3)
	for len(text) > 0 {
		chunk := text[:wordEnd(text, chunkBytes)]
		text = text[len(chunk):]
		found, _, err := t.codec.Encode(strings.ReplaceAll(chunk, del, standIn))
		if err != nil {
			return nil, fmt.Errorf("text: text: %w", err)
		}
		at := 0 // position in chunk after the last U+0000 or U+007F
		for _, id := range found {
			if id == standInID {
				at += strings.IndexAny(chunk[at:], del+standIn) + 1
				if chunk[at-1] == del[0] {
					id = delID
				}
			}
			ids = append(ids, int(id))
		}
	}
	return ids, nil
}

// chunkBytes is how much of a text the codec gets at a time: it needs about thirty
// times the memory.
const chunkBytes = 1 << 16

// wordEnd returns where to cut text, at from or later, so that both parts have the
// ids of the whole: before the first white space that follows another character,
// since no token of GPT-2 spans the two.
func wordEnd(text string, from int) int {
	for i := from; i < len(text); i++ {
		if text[i] == ' ' || text[i] == '\n' {
			if r, _ := utf8.DecodeLastRuneInString(text[:i]); !unicode.IsSpace(r) {
				return i
			}
		}
	}
	return len(text)
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
		token, err := t.codec.Decode([]uint{uint(id)})
		if err != nil {
			return "", fmt.Errorf("text: ids: %w at position %d", err, i)
		}
		text.WriteString(token)
	}
	return text.String(), nil
}

// Config returns the config with the name GPT2.
func (*GPT2Tokenizer) Config() TokenizerConfig { return TokenizerConfig{Name: GPT2} }
