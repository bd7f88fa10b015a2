package pretrained

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/train/text"
)

// tokenizer returns the tokenizer that config.json names, or else the one of the folder's tokenizer.json, or of its
// vocab.json and merges.txt; nil if there is none. For GPT-2 without such files it is GPT-2's own tokenizer, if the
// vocabulary has its size (or that size padded to a multiple of 64 or 128) and the folder holds no other vocabulary.
func (c folderConfig) tokenizer(dir string) (text.Tokenizer, error) {
	const padded = 50304
	switch {
	case c.Vocabulary != nil:
		return c.named(dir)
	case c.family == &gpt2 && c.decoder.VocabSize > text.GPT2EndOfText && c.decoder.VocabSize <= padded:
		t := text.NewGPT2Tokenizer()
		if !isGPT2(dir, t) {
			return nil, nil
		}
		return t, nil
	}
	found, err := findTokenizer(dir)
	if !found || err != nil {
		return nil, err
	}
	t, err := text.OpenTokenizer(dir)
	if err != nil { // a nil *SubwordTokenizer would not be a nil Tokenizer
		return nil, err
	}
	return t, nil
}

// named returns the tokenizer that config.json names.
func (c folderConfig) named(dir string) (text.Tokenizer, error) {
	t, err := c.Vocabulary.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: vocabulary: %w", configName, config.JSON(err))
	}
	if t.Len() > c.decoder.VocabSize {
		return nil, fmt.Errorf("%s: vocabulary: got %d tokens, want at most vocab_size %d",
			configName, t.Len(), c.decoder.VocabSize)
	}
	return t, nil
}

// findTokenizer reports whether a folder has the files of a tokenizer. If the only tokenizer is SentencePiece's, the
// result is an error.
func findTokenizer(dir string) (bool, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if has(tokenizerName) || has("vocab.json") && has("merges.txt") {
		return true, nil
	}
	if !has(sentencePieceName) {
		return false, nil
	}
	return false, fmt.Errorf("got %s alone, which is not read, want %s: transformers' AutoTokenizer reads the one, and "+
		"its save_pretrained writes the other", sentencePieceName, tokenizerName)
}

// endOfText returns the id that ends a text, or −1 if there is none. If there is a list of ids, it returns the first.
func (c folderConfig) endOfText(t text.Tokenizer) int {
	if ids := c.ids(c.EOS); len(ids) > 0 {
		return ids[0]
	}
	if t != nil && t.Config().Name == text.GPT2 {
		return text.GPT2EndOfText
	}
	return -1
}

// ids returns the token ids in a JSON value, which is a number or a list of numbers.
func (c folderConfig) ids(value any) (ids []int) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, id := range list {
		if n, ok := id.(float64); ok && n >= 0 && n < float64(c.decoder.VocabSize) && n == float64(int(n)) {
			ids = append(ids, int(n))
		}
	}
	return ids
}

// generation returns the contents of generation_config.json, {} if there is none.
func (f *Folder) generation() ([]byte, error) {
	text, err := folder.ReadFile(filepath.Join(f.dir, generationName), folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{}"), nil
	}
	return text, err
}

// ends returns the ids that end a text, from generation_config.json or else from config.json.
func (f *Folder) ends(generation []byte) ([]int, error) {
	var of struct {
		EOS any `json:"eos_token_id"`
	}
	if err := config.Foreign.Decode(generation, &of); err != nil {
		return nil, fmt.Errorf("%s: %w", generationName, err)
	}
	if ids := f.config.ids(of.EOS); len(ids) > 0 {
		return ids, nil
	}
	ids := f.config.ids(f.config.EOS)
	if id := f.config.endOfText(f.tokenizer); len(ids) == 0 && id >= 0 {
		ids = []int{id}
	}
	return ids, nil
}

// isGPT2 reports whether the vocabulary beside a model is GPT-2's or missing. Models of other languages have other
// tokens, sometimes equally many.
func isGPT2(dir string, t *text.SubwordTokenizer) bool {
	ids, err := text.VocabularyOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	for id := range text.GPT2EndOfText {
		if got, ok := ids[t.Token(id)]; !ok || int(got) != id {
			return false
		}
	}
	return true
}
