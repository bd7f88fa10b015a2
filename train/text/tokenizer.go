package text

import (
	"cmp"
	"fmt"
	"path/filepath"

	"attention/internal/config"
	"attention/internal/gguf"
)

// Tokenizer converts text to ids and back. Decode(Encode(text)) is text, and the text of two concatenated slices of ids
// is the concatenation of their texts; a SubwordTokenizer's file may make exceptions. A tokenizer never changes, so any
// number of goroutines may use it.
type Tokenizer interface {
	// Len returns V, the number of ids: they are 0 to V−1.
	Len() int
	// Encode returns the ids of text. The error for a character or byte that it
	// cannot encode names it and its position.
	Encode(text string) ([]int, error)
	// Decode returns the text of ids, which need not be UTF-8 if an id is part
	// of a character (Decoder waits for the other parts). The error for an id
	// outside [0, V) names it and its position.
	Decode(ids []int) (string, error)
	// Config returns the config of the tokenizer.
	Config() TokenizerConfig
}

// Names of tokenizers for TokenizerConfig.Name; TokenizerFile is another.
const (
	Characters = "characters" // Vocabulary
	Bytes      = "bytes"      // ByteTokenizer
	GPT2       = "gpt2"       // NewGPT2Tokenizer
)

// TokenizerConfig describes a tokenizer in JSON: its name and, for Characters, the characters of its text.
type TokenizerConfig struct {
	Name       string `json:"tokenizer"`            // "" is Characters
	Characters string `json:"characters,omitempty"` // for Characters: all of them, ascending, at least one; otherwise ""
	SHA256     string `json:"sha256,omitempty"`     // for TokenizerFile: the checksum of the file; "" means any file
}

// Open returns the tokenizer. A TokenizerFile is read from the folder of the config.
func (c TokenizerConfig) Open(dir string) (Tokenizer, error) {
	if err := c.Validate(); err != nil || c.Name != TokenizerFile {
		return c.New()
	}
	path := dir
	if !gguf.Is(path) {
		path = filepath.Join(dir, TokenizerFile)
	}
	t, err := openTokenizerFile(path)
	if err != nil {
		return nil, err
	}
	if got := t.config.SHA256; c.SHA256 != "" && got != c.SHA256 {
		return nil, fmt.Errorf("%s: got a file with SHA-256 %s, want %s, that of the model's tokenizer", path, got, c.SHA256)
	}
	return t, nil
}

// New returns the tokenizer, or the error of Validate. It reads no file: for TokenizerFile it returns an error.
func (c TokenizerConfig) New() (Tokenizer, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	switch c.Name {
	case Bytes:
		return ByteTokenizer{}, nil
	case GPT2:
		return NewGPT2Tokenizer(), nil
	case TokenizerFile:
		return nil, fmt.Errorf("text: tokenizer %s has a file, want TokenizerConfig.Open of its folder", c.Name)
	}
	return newVocabulary([]rune(c.Characters)), nil
}

// Validate returns an error for an unknown name, for characters with a name other than Characters, and, for Characters,
// for an empty string or characters that do not ascend: their ids would differ from the saved ones.
func (c TokenizerConfig) Validate() error {
	name := cmp.Or(c.Name, Characters)
	if err := config.OneOf(c, "Name", name, Characters, Bytes, GPT2, TokenizerFile); err != nil {
		return err
	}
	if c.SHA256 != "" && name != TokenizerFile {
		return config.Errorf(c, "SHA256", "got one with %s=%s, want none: only %s has it", config.Field("Name"), name,
			TokenizerFile)
	}
	if name == Characters {
		return config.In(c, "Characters", checkCharacters(c.Characters))
	}
	if c.Characters != "" {
		return config.Errorf(c, "Characters", "got some with %s=%s, want none: only %s has them",
			config.Field("Name"), name, Characters)
	}
	return nil
}

// checkID returns an error that names at, the position of id, unless id is in [0, length).
func checkID(at, id, length int) error {
	if id < 0 || id >= length {
		return fmt.Errorf("text: ids: got %d at position %d, want 0 to %d", id, at, length-1)
	}
	return nil
}
