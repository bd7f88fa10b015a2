package run

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"attention/internal/folder"
	"attention/train/text"
)

//go:embed text/attention.txt
var builtinText string

// Corpus is a text as tokens, split for training and validation.
type Corpus struct {
	Source               TextSource
	Tokenizer            text.Tokenizer
	Training, Validation []int
	NGram                *text.NGram // nil for a large vocabulary
}

// TextSource is the file that a run learns from.
type TextSource struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// BuiltinName is the name of the text embedded in the program.
const BuiltinName = "built-in"

// Builtin reports whether the text is the one embedded in the program.
func (s TextSource) Builtin() bool { return s.Name == BuiltinName }

// textName returns the name of the text at path, which differs from the built-in one's.
func textName(path string) string {
	if path == BuiltinName {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// ReadCorpus reads and splits the text of a run. If the config has its checksum, the text must be the same. A
// vocabulary without characters gets those of the text.
func ReadCorpus(r Config) (*Corpus, error) {
	name, text, context := r.Text.Name, builtinText, r.Model.Context()
	if !r.Text.Builtin() {
		var err error
		if text, err = readText(name); err != nil {
			return nil, fmt.Errorf("--text: %s: %w", name, err)
		}
	}
	sum := sha256.Sum256([]byte(text))
	c := &Corpus{Source: TextSource{Name: name, Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}}
	ids, err := c.encode(text, r.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("--text: %s: %w", name, err)
	}
	// A tenth is for validation and must be longer than a window.
	switch longest := (len(ids) - 1) / 10; {
	case context <= longest:
	case r.Text.Builtin():
		return nil, fmt.Errorf("--context: got %d, want at most %d for the built-in text", context, longest)
	default:
		return nil, fmt.Errorf("--text: %s: got %d %s, want more than 10 times --context %d",
			name, len(ids), c.Unit(), context)
	}
	if want := r.Text.SHA256; want != "" && want != c.Source.SHA256 {
		return nil, fmt.Errorf("--text: %s: got a text with SHA-256 %s, want %s, that of the text that the run began with",
			name, c.Source.SHA256, want)
	}
	return c, c.split(ids, context)
}

// encode makes the tokenizer and returns the ids of the text.
func (c *Corpus) encode(content string, tokens text.TokenizerConfig) (ids []int, err error) {
	if tokens.Name == text.Characters && tokens.Characters == "" {
		c.Tokenizer, err = text.NewVocabulary(content)
	} else {
		c.Tokenizer, err = tokens.New()
	}
	if err != nil {
		return nil, err
	}
	return c.Tokenizer.Encode(content)
}

// split splits the ids and counts single tokens and pairs.
func (c *Corpus) split(ids []int, context int) (err error) {
	if c.Training, c.Validation, err = text.Split(ids, context); err != nil {
		return err
	}
	if c.Tokenizer.Len() > mostCounted {
		return nil
	}
	ngram, err := text.NewNGram(c.Training, c.Validation, c.Tokenizer.Len())
	c.NGram = &ngram
	return err
}

// mostCounted is the largest vocabulary for which pairs of tokens are counted: with a larger one, most pairs of the
// validation text do not occur in the training text.
const mostCounted = 4096

// Unit returns the noun for the tokens.
func (c *Corpus) Unit() string { return unitOf(c.Tokenizer.Config().Name) }

// unitOf returns the noun for the tokens of a tokenizer.
func unitOf(tokenizer string) string {
	switch tokenizer {
	case text.Characters, text.Bytes:
		return tokenizer
	}
	return "tokens"
}

// StandardInput names the standard input instead of a file.
const StandardInput = "-"

// ReadFile reads a file that a user names by a flag, or the standard input.
func ReadFile(flag, path string) ([]byte, error) {
	if path == StandardInput {
		return folder.ReadAll(os.Stdin, folder.MaxText)
	}
	content, err := folder.ReadFile(path, folder.MaxText)
	if unfit, ok := errors.AsType[*folder.UnfitError](err); ok && unfit.Got == folder.Pipe {
		unfit.Want += fmt.Sprintf(", or %s %s with the pipe as standard input", flag, StandardInput)
	}
	return content, err
}

// readText reads a file of UTF-8.
func readText(path string) (string, error) {
	raw, err := ReadFile("--text", path)
	if err != nil {
		return "", folder.Want(folder.WithoutPath(err), "a text file")
	}
	return string(raw), checkText(raw)
}

func checkText(raw []byte) error {
	if len(raw) == 0 {
		return errors.New("got an empty file, want a text")
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
