package text

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/folder"
	"attention/internal/gguf"

	"github.com/go-json-experiment/json/jsontext"
)

// TokenizerFile is the name of the file that OpenTokenizer reads in a folder. It is also the name in the config of such
// a tokenizer, whose file is beside the config.
const TokenizerFile = "tokenizer.json"

// The files of a tokenizer without a tokenizer.json.
const (
	vocabularyFile = "vocab.json"
	mergesFile     = "merges.txt"
)

// OpenTokenizer reads a tokenizer.json of Hugging Face's library. In a folder it reads tokenizer.json or, if that is
// missing, vocab.json and merges.txt in GPT-2's form. The model must be of type BPE or WordPiece. In a GGUF file
// it reads a tokenizer of type gpt2 or llama, whose ids are those of llama.cpp.
func OpenTokenizer(path string) (*SubwordTokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return openTokenizerFile(path)
	}
	t, err := openTokenizerFile(filepath.Join(path, TokenizerFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	if t, err = openVocabulary(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: got neither %s nor %s with %s, want a tokenizer", path, TokenizerFile, vocabularyFile,
			mergesFile)
	}
	return t, err
}

// openTokenizerFile reads a tokenizer.json.
func openTokenizerFile(path string) (*SubwordTokenizer, error) {
	if gguf.Is(path) {
		return openGGUF(path)
	}
	data, err := folder.ReadFile(path, folder.MaxVocabulary)
	if err != nil {
		return nil, err
	}
	t, err := ReadTokenizer(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadTokenizer reads the text of a tokenizer.json.
func ReadTokenizer(data []byte) (*SubwordTokenizer, error) {
	text := string(data)
	read, err := readTokenizerJSON(text)
	if err != nil {
		return nil, err
	}
	t, err := read.tokenizer()
	if err != nil {
		return nil, err
	}
	t.files = map[string]string{TokenizerFile: text}
	sum := sha256.Sum256(data)
	t.config.SHA256 = hex.EncodeToString(sum[:])
	return t, nil
}

// openVocabulary reads vocab.json and merges.txt of a folder.
func openVocabulary(dir string) (*SubwordTokenizer, error) {
	files := map[string]string{}
	for _, name := range []string{vocabularyFile, mergesFile} {
		data, err := folder.ReadFile(filepath.Join(dir, name), folder.MaxVocabulary)
		if err != nil {
			return nil, err
		}
		files[name] = string(data)
	}
	read := byteLevelJSON()
	if err := read.model.readVocab(newJSONReader(files[vocabularyFile])); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, vocabularyFile), err)
	}
	for i, line := range strings.Split(strings.TrimRight(files[mergesFile], "\r\n"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); i == 0 && strings.HasPrefix(line, "#version") {
			continue
		}
		pair, err := cutMerge(line)
		if err == nil {
			err = read.model.addMerge(pair)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", filepath.Join(dir, mergesFile), i+1, err)
		}
	}
	if id, ok := read.model.ids[endOfText]; ok {
		read.added = []AddedToken{{ID: int(id), Content: endOfText, Special: true}}
	}
	t, err := read.tokenizer()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	t.files = files
	return t, nil
}

// VocabularyOf returns the ids of the tokens of a folder's vocab.json or else of its tokenizer.json.
func VocabularyOf(dir string) (ids map[string]int32, err error) {
	data, err := folder.ReadFile(filepath.Join(dir, vocabularyFile), folder.MaxVocabulary)
	if err == nil {
		var m modelJSON
		err = m.readVocab(newJSONReader(string(data)))
		return m.ids, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		data, err = folder.ReadFile(filepath.Join(dir, TokenizerFile), folder.MaxVocabulary)
	}
	if err != nil {
		return nil, err
	}
	read, err := readTokenizerJSON(string(data))
	return read.model.ids, err
}

// byteLevelJSON returns a tokenizer.json like GPT-2's, without the model's tokens.
func byteLevelJSON() (t tokenizerJSON) {
	level := jsontext.Value(`{"type": "ByteLevel", "add_prefix_space": false}`)
	t.preTokenizer, t.decoder = level, level
	return t
}

// tokenizer returns the tokenizer that a tokenizer.json describes.
func (j *tokenizerJSON) tokenizer() (*SubwordTokenizer, error) {
	m := &j.model
	t := &SubwordTokenizer{config: TokenizerConfig{Name: TokenizerFile}, ids: m.ids, whole: m.ignoreMerges,
		special: map[int]bool{}, changed: map[int]string{}, parts: Parts{IgnoreMerges: m.ignoreMerges,
			ByteFallback: m.fallback, Unknown: m.unknown, Added: j.added}}
	var bytes bool
	for _, part := range []struct {
		name string
		read func() error
	}{
		{"normalizer", func() (err error) {
			t.normalize, t.bert, t.parts.Normalizer, err = readNormalizer(j.normalizer)
			return err
		}},
		{"pre_tokenizer", func() (err error) {
			t.cut, t.parts.PreTokenizer, bytes, err = readPreTokenizer(j.preTokenizer)
			return err
		}},
		{"decoder", func() (err error) { t.decoder, err = readDecoder(j.decoder); return err }},
		{"post_processor", func() (err error) { t.template, err = readTemplate(j.postProcessor); return err }},
		{"model", func() (err error) {
			if m.kind == wordPieceKind {
				t.words, err = m.wordPiece()
			}
			return err
		}},
		{"model", func() (err error) { t.alphabet, err = m.alphabet(bytes); return err }},
		{"model", func() (err error) { t.pairs, err = m.pairs(); return err }},
		{"added_tokens", func() error { return t.add(m, j.added) }},
	} {
		if err := part.read(); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	t.tokens = m.tokens
	for _, token := range slices.Concat(t.single, t.pair) {
		if token.text < 0 && t.Token(token.id) == "" {
			return nil, fmt.Errorf("post_processor: got id %d, want a token's", token.id)
		}
	}
	if !bytes && !t.whole && t.words == nil {
		t.seams = newSeams(&t.alphabet, m.merges)
	}
	return t, nil
}

// add adds the added tokens.
func (t *SubwordTokenizer) add(m *modelJSON, added []AddedToken) error {
	bytes := 0
	for _, a := range added {
		if bytes += len(a.Content); bytes > mostAdded {
			return fmt.Errorf("got more than %d bytes of them, want fewer", mostAdded)
		}
		if id, ok := m.ids[a.Content]; ok && int(id) != a.ID {
			return fmt.Errorf("%.100q: got id %d, want %d as in the vocabulary", a.Content, a.ID, id)
		} else if !ok {
			if a.ID < 0 || a.ID >= mostIDs {
				return fmt.Errorf("%.100q: got id %d, want 0 to %d", a.Content, a.ID, mostIDs-1)
			}
			if err := m.add(a.Content, a.ID); err != nil {
				return err
			}
		}
		if a.Special {
			t.special[a.ID] = true
		}
		if !a.Normalized {
			t.raw.add(a, a.Content)
			continue
		}
		content := a.Content
		if t.normalize != nil {
			var err error
			if content, err = t.normalize(content); err != nil {
				return err
			}
		}
		if content != a.Content {
			t.changed[a.ID] = content
		}
		t.done.add(a, content)
	}
	return nil
}
