package text

import (
	_ "embed"
	"encoding/binary"
	"sync"
)

// GPT2EndOfText is the id between the texts that GPT-2 was trained on, that of "<|endoftext|>".
const GPT2EndOfText = 50256

// endOfText is its token.
const endOfText = "<|endoftext|>"

// gpt2Pairs are the ids of the two tokens that each of GPT-2's tokens is joined from, in the order of their ids, which
// begin with the 256 bytes: two bytes each, the lower first.
//
//go:embed gpt2.pairs
var gpt2Pairs string

// gpt2 returns the tokenizer, which is made once.
var gpt2 = sync.OnceValue(func() *BPETokenizer {
	j := byteLevelJSON()
	m := &j.model
	m.ids = make(map[string]int32, GPT2EndOfText+1)
	for _, b := range bytesInOrder {
		_ = m.add(string(byteLetters[b]), len(m.tokens))
	}
	m.table = newPairTable(len(gpt2Pairs) / 4)
	for pairs := []byte(gpt2Pairs); len(pairs) > 0; pairs = pairs[4:] {
		left, right := int32(binary.LittleEndian.Uint16(pairs)), int32(binary.LittleEndian.Uint16(pairs[2:]))
		id := len(m.tokens)
		m.table.set(left, right, int32(id), int32(id))
		_ = m.add(m.tokens[left]+m.tokens[right], id)
	}
	j.added = []AddedToken{{ID: GPT2EndOfText, Content: endOfText, Special: true}}
	t, err := j.tokenizer()
	if err != nil {
		panic(err) // the table is a part of the program
	}
	t.config.Name = GPT2
	return t
})

// NewGPT2Tokenizer returns the byte-pair encoding of GPT-2 (Radford et al. 2019,
// section 2.2; tiktoken's gpt2 and r50k_base) with its published vocabulary,
// which is a part of the program: its ids are those that GPT-2's weights were
// trained on.
func NewGPT2Tokenizer() *BPETokenizer { return gpt2() }
