package train

import "fmt"

// Tokenizer turns text into ids and back. Decode(Encode(text)) is text, and what
// it decodes of two slices of ids joined is the two texts joined. It does not
// change once made, so any number of goroutines may use it.
type Tokenizer interface {
	// Len returns V, the number of ids; all are less than it.
	Len() int
	// Encode returns the ids of text. What it cannot encode is an error that
	// names it and its position.
	Encode(text string) ([]int, error)
	// Decode returns the text of ids, which need not be UTF-8 where an id is a
	// part of a character (Decoder waits for the other parts). An id outside
	// [0, V) is an error that names it and its position.
	Decode(ids []int) (string, error)
	// Config returns what makes an equal tokenizer.
	Config() TokenizerConfig
}

// Names of tokenizers for TokenizerConfig.Name.
const (
	Characters = "characters" // Vocabulary
	Bytes      = "bytes"      // ByteTokenizer
	GPT2       = "gpt2"       // GPT2Tokenizer
)

// TokenizerConfig names a tokenizer and holds what it knows of its text, so that
// both can be written down in one piece.
type TokenizerConfig struct {
	Name       string `json:"tokenizer"`            // "" is Characters
	Characters string `json:"characters,omitempty"` // for Characters: all of them, ascending, at least one; otherwise ""
}

// New makes the tokenizer, or returns the error that Validate returns.
func (c TokenizerConfig) New() (Tokenizer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch c.Name {
	case Bytes:
		return ByteTokenizer{}, nil
	case GPT2:
		return NewGPT2Tokenizer(), nil
	}
	return newVocabulary([]rune(c.Characters)), nil
}

// Validate refuses unknown names, characters of a tokenizer that has none, and
// no characters or such that do not ascend: their ids would not be those they
// were saved with.
func (c TokenizerConfig) Validate() error {
	switch c.Name {
	case "", Characters:
		return checkCharacters(c.Characters)
	case Bytes, GPT2:
		if c.Characters != "" {
			return fmt.Errorf("train: tokenizer %s: got characters, want none: only %q has them", c.Name, Characters)
		}
		return nil
	}
	return fmt.Errorf("train: tokenizer: got %q, want %q, %q or %q", c.Name, Characters, Bytes, GPT2)
}

// checkID refuses ids[at] == id unless it is one of a tokenizer of that length.
func checkID(at, id, length int) error {
	if id < 0 || id >= length {
		return fmt.Errorf("train: ids: got %d at position %d, want 0 to %d", id, at, length-1)
	}
	return nil
}
