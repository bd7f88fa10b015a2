package text

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Corpus is a text as tokens, split for training and validation.
type Corpus struct {
	Tokenizer            Tokenizer
	Training, Validation []int
	NGram                *NGram // losses of n-gram models; nil for a large vocabulary
}

// mostCounted is the largest vocabulary for which pairs of tokens are counted: with a larger one, most pairs of the
// validation text do not occur in the training text.
const mostCounted = 4096

// Encode returns the ids of a text, and the tokenizer that made them. If the config names the tokenizer of characters
// without listing any, it uses the characters of the text.
func (c TokenizerConfig) Encode(text string) (ids []int, t Tokenizer, err error) {
	if cmp.Or(c.Name, Characters) == Characters && c.Characters == "" {
		t, err = NewVocabulary(text)
	} else {
		t, err = c.New()
	}
	if err != nil {
		return nil, nil, err
	}
	ids, err = t.Encode(text)
	return ids, t, err
}

// NewCorpus splits the ids of a text as Split does, and counts single tokens and pairs.
func NewCorpus(ids []int, t Tokenizer, context int) (*Corpus, error) {
	if t == nil {
		return nil, errors.New("text: corpus: got no tokenizer, want one")
	}
	training, validation, err := Split(ids, context)
	if err != nil {
		return nil, err
	}
	c := &Corpus{Tokenizer: t, Training: training, Validation: validation}
	if t.Len() > mostCounted {
		return c, nil
	}
	ngram, err := NewNGram(training, validation, t.Len())
	c.NGram = &ngram
	return c, err
}

// Unit returns the plural noun for the tokens.
func (c *Corpus) Unit() string {
	if c.Tokenizer == nil {
		return "tokens"
	}
	return c.Tokenizer.Config().Unit()
}

// Unit returns the plural noun for the tokens of the tokenizer.
func (c TokenizerConfig) Unit() string {
	switch name := cmp.Or(c.Name, Characters); name {
	case Characters, Bytes:
		return name
	}
	return "tokens"
}

// Words returns n tokens of the validation text from the start of a word, preceded by before tokens of context. If no
// word is followed by n tokens, Words uses the first tokens of the text.
func (c *Corpus) Words(before, n int) ([]int, error) {
	if most := len(c.Validation); before < 0 || n < 0 || before > most || n > most-before {
		return nil, fmt.Errorf("text: words: got %d tokens after %d, want them of %d", n, before, most)
	}
	if c.Tokenizer == nil {
		return nil, errors.New("text: words: got no tokenizer, want one")
	}
	begin, err := c.wordStart(before, n)
	return c.Validation[begin-before:][:before+n], err
}

// wordStart returns the first index, at least from, at which a word begins in the validation text with n tokens from
// there on, or from if there is none.
func (c *Corpus) wordStart(from, n int) (int, error) {
	for i := max(from, 1); i < len(c.Validation) && i+n <= len(c.Validation); i++ {
		before, err := c.Tokenizer.Decode(c.Validation[i-1 : i])
		if err != nil {
			return 0, err
		}
		token, err := c.Tokenizer.Decode(c.Validation[i : i+1])
		if err != nil {
			return 0, err
		}
		word := strings.TrimPrefix(token, " ")
		first, _ := utf8.DecodeRuneInString(word)
		if last, _ := utf8.DecodeLastRuneInString(before); first != utf8.RuneError && !unicode.IsSpace(first) &&
			(word != token || unicode.IsSpace(last)) {
			return i, nil
		}
	}
	return from, nil
}

// Check returns an error for bytes that are not text: none at all, or not UTF-8.
func Check(raw []byte) error {
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

// Split returns the first nine tenths of a text's ids, rounded down, for training and the remaining ids for validation.
// Both share ids' memory. Both must be longer than context, the T positions of a window, so that each holds at least
// one window and its targets.
func Split(ids []int, context int) (training, validation []int, err error) {
	if context < 1 {
		return nil, nil, fmt.Errorf("text: context: got %d, want a number >= 1", context)
	}
	cut := len(ids) / 10 * 9
	cut += len(ids) % 10 * 9 / 10
	training, validation = ids[:cut:cut], ids[cut:]
	if len(training) <= context || len(validation) <= context {
		return nil, nil, fmt.Errorf("text: got %d tokens, %d to train on and %d to validate on, "+
			"want both to be more than the context of %d: at least %d tokens",
			len(ids), len(training), len(validation), context, 10*context+1)
	}
	return training, validation, nil
}
