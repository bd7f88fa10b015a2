package train

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// GPT2EndOfText is the id that stands between the texts GPT-2 learnt from. Encode
// never returns it, for no text can say where a text ends; Decode returns
// "<|endoftext|>" for it.
const GPT2EndOfText = 50256

// GPT2Tokenizer is the byte-pair encoding of GPT-2 (Radford et al. 2019, section
// 2.2; tiktoken's gpt2 and r50k_base) with the vocabulary it was published with.
// Its ids are those that GPT-2's weights know.
type GPT2Tokenizer struct {
	codec *codec.Codec
}

// NewGPT2Tokenizer makes the tokenizer from the vocabulary that is part of the
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

// Encode returns the ids of text, which has to be UTF-8: a byte that is not is an
// error that names it and its offset. "<|endoftext|>" is text like any other.
func (t *GPT2Tokenizer) Encode(text string) ([]int, error) {
	for at, r := range text {
		if err := checkRune(text, at, r); err != nil {
			return nil, err
		}
	}
	ids := make([]int, 0, len(text)/3)
	for len(text) > 0 {
		chunk := text[:wordEnd(text, chunkBytes)]
		text = text[len(chunk):]
		found, _, err := t.codec.Encode(strings.ReplaceAll(chunk, del, standIn))
		if err != nil {
			return nil, fmt.Errorf("train: text: %w", err)
		}
		at := 0 // in chunk, behind the last byte that is a stand-in or stood for
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

// chunkBytes is how much of a text is given to the codec at a time, which needs
// some thirty times the memory.
const chunkBytes = 1 << 16

// wordEnd returns where to cut text, at from or later, so that both parts have the
// ids of the whole: at the first white space behind a character that is none, for
// no token of GPT-2 goes on from the one to the other.
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

// Decode returns the text of ids, which is not UTF-8 where they break off within
// a character. An id outside [0, 50257) is an error that names it and its position.
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
			return "", fmt.Errorf("train: ids: %w at position %d", err, i)
		}
		text.WriteString(token)
	}
	return text.String(), nil
}

// Config returns the config that has the name GPT2.
func (*GPT2Tokenizer) Config() TokenizerConfig { return TokenizerConfig{Name: GPT2} }
