package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"attention/internal/config"
	"attention/train/text"
)

// TokenizerFile is the file of a run's folder with its tokenizer, if that was read from one.
const TokenizerFile = text.TokenizerFile

// tokenizerNames are the tokenizers without a file.
var tokenizerNames = []string{text.Characters, text.Bytes, text.GPT2}

// OpenTokenizer reads the tokenizer.json at a path, or in the folder there.
func OpenTokenizer(path string) (*text.SubwordTokenizer, error) {
	file, err := Locate(path)
	if err != nil {
		return nil, err
	}
	t, err := text.OpenTokenizer(file)
	if of, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) && of.Path == path {
		return nil, fmt.Errorf("got %q, want characters, bytes, gpt2 or the path of a %s", path, TokenizerFile)
	}
	if err != nil {
		return nil, err
	}
	if _, ok := t.Files()[TokenizerFile]; !ok {
		return nil, fmt.Errorf("%s: got vocab.json and merges.txt, want a %s, which holds both", path, TokenizerFile)
	}
	return t, nil
}

// nameTokenizer opens the tokenizer if the flag's value is no name but a path, and makes it the value of a file.
func (s *Settings) nameTokenizer(given config.Values) (err error) {
	name := given.Text("vocabulary.tokenizer")
	if name == "" || slices.Contains(tokenizerNames, name) {
		return nil
	}
	if s.tokenizer, err = OpenTokenizer(name); err != nil {
		return fmt.Errorf("--tokenizer: %w", err)
	}
	c := s.tokenizer.Config()
	given["vocabulary.tokenizer"], given["vocabulary.sha256"] = config.Value{JSON: c.Name}, config.Value{JSON: c.SHA256}
	return nil
}

// findTokenizer opens the tokenizer beside the config.json of --config, or in the folder of --init.
func (s *Settings) findTokenizer(path string) (err error) {
	v := s.values["vocabulary.tokenizer"]
	if s.tokenizer != nil || v.JSON != TokenizerFile {
		return nil
	}
	dir := filepath.Dir(path)
	if s.init != "" && v.From == initOrigin(s.init) {
		if dir, err = Locate(s.init); err != nil {
			return InPart(v.From, err)
		}
	}
	t, err := text.TokenizerConfig{Name: TokenizerFile, SHA256: s.values.Text("vocabulary.sha256")}.Open(dir)
	if err != nil {
		return InPart(v.From, err)
	}
	s.tokenizer = t.(*text.SubwordTokenizer)
	return nil
}

// Tokenizer returns the tokenizer of a file; nil if it is another one.
func (s *Settings) Tokenizer() *text.SubwordTokenizer { return s.tokenizer }

// OpenTokenizer returns the tokenizer of the file in the folder of the run; nil if it is another one.
func (c Config) OpenTokenizer(dir string) (*text.SubwordTokenizer, error) {
	if c.Vocabulary.Name != TokenizerFile {
		return nil, nil
	}
	t, err := c.Vocabulary.Open(dir)
	if err != nil {
		return nil, err
	}
	return t.(*text.SubwordTokenizer), nil
}

// encode returns the ids of a text: of a file's tokenizer, which gives special tokens their own, or else of the
// config's.
func (c Config) encode(content string, file *text.SubwordTokenizer) (ids []int, t text.Tokenizer, err error) {
	if file == nil {
		return c.Vocabulary.Encode(content)
	}
	ids, err = file.Encode(content)
	return ids, file, err
}
