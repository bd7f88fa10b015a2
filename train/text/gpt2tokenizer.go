package text

import (
	_ "embed"
	"encoding/binary"
	"sync"
)

// GPT2EndOfText is the id of "<|endoftext|>", which separates the texts that GPT-2 was trained on.
const GPT2EndOfText = 50256

// endOfText is the token with the id GPT2EndOfText.
const endOfText = "<|endoftext|>"

// gpt2Pairs holds, for each of GPT-2's tokens in the order of their ids, the ids of the two tokens from which it is
// joined, each as two bytes, the lower byte first. The first 256 ids are the bytes.
//
//go:embed gpt2.pairs
var gpt2Pairs string

// gpt2 returns the tokenizer, which is made only once.
var gpt2 = sync.OnceValue(func() *SubwordTokenizer {
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

// NewGPT2Tokenizer returns the byte-pair encoding of GPT-2 (Radford et al. 2019, section 2.2; tiktoken's gpt2 and
// r50k_base) with its published vocabulary, which is part of the program. Its ids are those of GPT-2's weights.
func NewGPT2Tokenizer() *SubwordTokenizer { return gpt2() }
