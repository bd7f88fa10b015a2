package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"attention/train/text"
)

//go:embed text/attention.txt
var builtinText string

// corpus is a text made ready to learn from.
type corpus struct {
	source               textSource
	tokenizer            text.Tokenizer
	training, validation []int
	ngram                *text.NGram // nil for tokens that counting says little of
}

// textSource says which file a run learnt from.
type textSource struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// builtinName is the name of the text in the program.
const builtinName = "built-in"

func (s textSource) builtin() bool { return s.Name == builtinName }

// textName is the name of a text by its path, which is empty for the built-in one.
func textName(path string) string {
	switch path {
	case "":
		return builtinName
	case builtinName:
		return "." + string(filepath.Separator) + path
	}
	return path
}

// readCorpus reads the file, or the built-in text if path is empty, and splits it.
// A vocabulary of no characters gets those of the text.
func readCorpus(path string, context int, tokens text.TokenizerConfig) (*corpus, error) {
	text := builtinText
	if path != "" {
		var err error
		if text, err = readText(path); err != nil {
			return nil, fmt.Errorf("--text: %s: %w", path, err)
		}
	}
	sum := sha256.Sum256([]byte(text))
	c := &corpus{source: textSource{Name: textName(path), Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}}
	ids, err := c.encode(text, tokens)
	if err != nil {
		return nil, fmt.Errorf("--text: %s: %w", c.source.Name, err)
	}
	// A tenth is for validation and must be longer than a window.
	switch longest := (len(ids) - 1) / 10; {
	case context <= longest:
	case path == "":
		return nil, fmt.Errorf("--context: got %d, want at most %d for the built-in text", context, longest)
	default:
		return nil, fmt.Errorf("--text: %s: got %d %s, want more than 10 times --context %d", path, len(ids), c.unit(), context)
	}
	return c, c.split(ids, context)
}

// readCorpus reads the text that the flags name.
func (o trainOptions) readCorpus() (*corpus, error) {
	c, err := readCorpus(o.text, o.context, o.tokens())
	if err != nil {
		return nil, err
	}
	if n := c.tokenizer.Len(); o.vocab > 0 && o.vocab < n {
		return nil, fmt.Errorf("--vocab: got %d, want at least the %d %s of the tokenizer", o.vocab, n, c.unit())
	}
	return c, c.check(o.textSum)
}

// readSameCorpus reads the text that a run has begun to learn from.
func readSameCorpus(r runConfig) (*corpus, error) {
	path := r.Text.Name
	if r.Text.builtin() {
		path = ""
	}
	c, err := readCorpus(path, r.Model.context(), r.Vocabulary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; if it has moved, say where to with --text", err)
	}
	if err != nil {
		return nil, err
	}
	return c, c.check(r.Text.SHA256)
}

// check refuses another text than that with the checksum; an empty one is any.
func (c *corpus) check(sum string) error {
	if sum != "" && c.source.SHA256 != sum {
		return fmt.Errorf("--text: %s: got a text with SHA-256 %s, want %s, that of the text that the run began with",
			c.source.Name, c.source.SHA256, sum)
	}
	return nil
}

// encode makes the tokenizer and the ids of text.
func (c *corpus) encode(content string, tokens text.TokenizerConfig) (ids []int, err error) {
	if tokens.Name == text.Characters && tokens.Characters == "" {
		c.tokenizer, err = text.NewVocabulary(content)
	} else {
		c.tokenizer, err = tokens.New()
	}
	if err != nil {
		return nil, err
	}
	return c.tokenizer.Encode(content)
}

// split splits the ids and counts them.
func (c *corpus) split(ids []int, context int) (err error) {
	if c.training, c.validation, err = text.Split(ids, context); err != nil {
		return err
	}
	if c.tokenizer.Len() > mostCounted {
		return nil
	}
	ngram, err := text.NewNGram(c.training, c.validation, c.tokenizer.Len())
	c.ngram = &ngram
	return err
}

// mostCounted is the largest vocabulary for which pairs of tokens are counted: of a
// larger one most pairs of the validation text never occur in the other.
const mostCounted = 4096

// unit is what tokens are called.
func (c *corpus) unit() string { return unitOf(c.tokenizer.Config().Name) }

// unitOf is what the tokens of a tokenizer are called.
func unitOf(tokenizer string) string {
	switch tokenizer {
	case text.Characters, text.Bytes:
		return tokenizer
	}
	return "tokens"
}

// maxText is how many bytes a text may have: a device would never end.
const maxText = 64 << 20

// readText reads a file that must be UTF-8.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var raw []byte
		if raw, err = io.ReadAll(io.LimitReader(f, maxText+1)); err == nil {
			return string(raw), checkText(raw)
		}
	}
	var without *os.PathError // which repeats the path
	if errors.As(err, &without) {
		err = without.Err
	}
	return "", fmt.Errorf("%w, want a text file", err)
}

func checkText(raw []byte) error {
	switch {
	case len(raw) == 0:
		return errors.New("got an empty file, want a text")
	case len(raw) > maxText:
		return fmt.Errorf("got more than %d bytes, want a shorter text", maxText)
	}
	for at := 0; at < len(raw); {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("got byte 0x%02x at offset %d, want UTF-8", raw[at], at)
		}
		at += n
	}
	return nil
}

// Orders of the windows to train on, as --order names them.
const (
	randomOrder     = "random"
	sequentialOrder = "sequential"
)

func validOrder(order string) error {
	if order != randomOrder && order != sequentialOrder {
		return fmt.Errorf("--order: got %q, want %s or %s", order, randomOrder, sequentialOrder)
	}
	return nil
}
