package folder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"attention/train/text"
)

// isGPT2 says whether the vocabulary that a folder may hold beside its model is
// GPT-2's: that of vocab.json, or else of tokenizer.json. Models of other languages
// have other tokens, and sometimes as many.
func isGPT2(dir string, t *text.GPT2Tokenizer) bool {
	const most = 1 << 26
	data, err := readSmall(filepath.Join(dir, "vocab.json"), most)
	var ids map[string]int
	if err == nil {
		err = json.Unmarshal(data, &ids)
	} else if os.IsNotExist(err) {
		if data, err = readSmall(filepath.Join(dir, "tokenizer.json"), most); os.IsNotExist(err) {
			return true // nothing says otherwise
		}
		var whole struct {
			Model struct{ Vocab map[string]int }
		}
		if err == nil {
			err = json.Unmarshal(data, &whole)
		}
		ids = whole.Model.Vocab
	}
	if err != nil {
		return false
	}
	letters := byteLetters()
	for id := range text.GPT2EndOfText {
		token, err := t.Decode([]int{id})
		if err != nil {
			return false
		}
		var name strings.Builder
		for _, b := range []byte(token) {
			name.WriteRune(letters[b])
		}
		if got, ok := ids[name.String()]; !ok || got != id {
			return false
		}
	}
	return true
}

// byteLetters are the characters that stand for bytes in GPT-2's vocab.json: printable
// ones for themselves, the others for those from U+0100 on.
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
