package pretrained

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/train/text"
)

// tokenizer returns the tokenizer that config.json names. If it names none, it returns
// GPT-2's if the vocabulary has its size, also when padded to a multiple of 64 or 128,
// unless the folder holds another vocabulary; otherwise nil.
func (c folderConfig) tokenizer(dir string) (text.Tokenizer, error) {
	if c.Vocabulary == nil {
		const padded = 50304
		if c.gpt.VocabSize <= text.GPT2EndOfText || c.gpt.VocabSize > padded {
			return nil, nil
		}
		t := text.NewGPT2Tokenizer()
		if !isGPT2(dir, t) {
			return nil, nil
		}
		return t, nil
	}
	t, err := c.Vocabulary.New()
	if err != nil {
		return nil, fmt.Errorf("%s: vocabulary: %w", configName, config.JSON(err))
	}
	if t.Len() > c.gpt.VocabSize {
		return nil, fmt.Errorf("%s: vocabulary: got %d tokens, want at most vocab_size %d",
			configName, t.Len(), c.gpt.VocabSize)
	}
	return t, nil
}

// endOfText returns the id that ends a text, or −1 if there is none. Of a list it
// returns the first.
func (c folderConfig) endOfText(t text.Tokenizer) int {
	id := c.EOS
	if list, ok := id.([]any); ok && len(list) > 0 {
		id = list[0]
	}
	if n, ok := id.(float64); ok && n >= 0 && n < float64(c.gpt.VocabSize) && n == float64(int(n)) {
		return int(n)
	}
	if t != nil && t.Config().Name == text.GPT2 {
		return text.GPT2EndOfText
	}
	return -1
}

// isGPT2 reports whether the vocabulary beside a model is GPT-2's or missing. Models of other languages have other
// tokens, sometimes the same number of them.
func isGPT2(dir string, t *text.BPETokenizer) bool {
	ids, err := vocabularyIn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	for id := range text.GPT2EndOfText {
		if got, ok := ids[t.Token(id)]; !ok || got != id {
			return false
		}
	}
	return true
}

// vocabularyIn returns the ids of the tokens in vocab.json or else in tokenizer.json.
func vocabularyIn(dir string) (ids map[string]int, err error) {
	data, err := folder.ReadFile(filepath.Join(dir, "vocab.json"), folder.MaxVocabulary)
	if err == nil {
		err = json.Unmarshal(data, &ids)
		return ids, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if data, err = folder.ReadFile(filepath.Join(dir, "tokenizer.json"), folder.MaxVocabulary); err != nil {
		return nil, err
	}
	var whole struct {
		Model struct{ Vocab map[string]int }
	}
	err = json.Unmarshal(data, &whole)
	return whole.Model.Vocab, err
}

// byteLetters returns the characters that stand for bytes in GPT-2's vocab.json: a
// printable byte is itself, the others are U+0100, U+0101, … in order.
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
