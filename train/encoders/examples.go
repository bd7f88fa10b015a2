// Package encoders trains encoders on pairs of texts, texts with labels, words with tags, and texts whose tokens are
// masked: sources of batches, losses and measures. The forms of examples, losses and measures are those of
// sentence-transformers and transformers.
package encoders

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/train/text"
)

// Examples are examples to learn from, such as a text.Examples or a List.
type Examples interface {
	Len() int
	At(i int) (text.Example, error) // the error says where it stands
	Where(i int) string             // where example i stands, for errors
}

// List is Examples in memory.
type List []text.Example

// Len returns the number of examples.
func (l List) Len() int { return len(l) }

// At returns example i, counted from 0.
func (l List) At(i int) (text.Example, error) {
	if i < 0 || i >= len(l) {
		return text.Example{}, fmt.Errorf("encoders: got example %d, want 0 to %d", i, len(l)-1)
	}
	return l[i], nil
}

// Where returns the number of an example, counted from 1.
func (l List) Where(i int) string { return fmt.Sprintf("encoders: example %d", i+1) }

// Config sets the batches of a source.
type Config struct {
	Batch     int    `json:"batch"`      // B, the most examples of a batch; at least 1
	MaxLength int    `json:"max_length"` // the most tokens of a text; 0 means those of the encoder
	Shuffle   bool   `json:"shuffle"`    // each epoch has other batches in another order
	Once      bool   `json:"once"`       // an epoch ends with io.EOF, after which the next one begins
	Seed      uint64 `json:"seed"`       // of the orders and the masks
	// Classes are the labels of texts, as of the encoder's Classifier. With Classes examples are texts with one of them.
	Classes []string `json:"classes,omitempty"`
	Tagged  bool     `json:"tagged,omitempty"` // examples are words with tags among Classes, for the encoder's Tokens
	Ranked  bool     `json:"ranked,omitempty"` // examples are two texts and a score from 0 to 1, for its Classifier of pairs
	Masked  bool     `json:"masked,omitempty"` // examples are texts, whose tokens are masked for the encoder's MaskedLM
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "Batch"), config.AtLeast(c, 0, "MaxLength"))
	switch {
	case err != nil:
		return err
	case c.Masked && c.Classes != nil:
		return config.Errorf(c, "Masked", "got true with %s, want one of them", config.Field("Classes"))
	case c.Ranked && c.alone():
		return config.Errorf(c, "Ranked", "got true with %s or %s, want one of them", config.Field("Classes"),
			config.Field("Masked"))
	case c.Tagged && c.Classes == nil:
		return config.Errorf(c, "Tagged", "got true without %s, want the tags", config.Field("Classes"))
	}
	return nil
}

// alone reports whether an example is one text.
func (c Config) alone() bool { return c.Masked || c.Classes != nil }

// textsOf returns the texts of an example.
func (c Config) textsOf(e text.Example) []string {
	if c.Tagged {
		if e.Words == nil {
			return nil
		}
		return []string{strings.Join(e.Words, " ")}
	}
	if c.alone() && e.Words == nil && e.Texts == nil && e.Messages == nil {
		return []string{e.Text}
	}
	return e.Texts
}

// Summary describes the batches of the first epoch.
type Summary struct {
	Examples int
	Texts    int // of an example: 2, 3 with a negative, or 1 with a label, tags, masked tokens or a pair read together
	Scored   bool
	Tokens   int     // of all texts, cut ones as they are cut
	Cut      int     // texts that were too long
	Longest  int     // tokens of the longest text, cut if it was too long
	Batches  int     // of the first epoch
	Fill     float64 // the share of the batches' places that hold a token
}

// check returns an error for an example that is not of the form of the first.
func (s *Batches) check(e text.Example) error {
	of := s.summary
	if s.config.alone() {
		switch {
		case s.config.Tagged:
			return s.checkTags(e)
		case len(s.config.textsOf(e)) != 1:
			return errors.New("got no text, want one")
		case s.config.Masked || slices.Contains(s.config.Classes, e.Label):
			return nil
		case e.Label == "":
			return text.ErrNoLabel
		}
		return fmt.Errorf("label: got %.60q, want one of the %d that are learned", e.Label, len(s.config.Classes))
	}
	form := func(texts int, scored bool) string {
		switch {
		case scored:
			return "two texts and a score"
		case texts == 0:
			return "no pair of texts"
		}
		return []string{"an anchor and a positive", "an anchor, a positive and a negative"}[texts-2]
	}
	if n := len(e.Texts); n != 0 && (n < 2 || n > 3) || e.Score != nil && n != 2 {
		return fmt.Errorf("got %d texts, want two, or three without a score", n)
	}
	got := form(len(e.Texts), e.Score != nil)
	switch {
	case len(e.Texts) == 0:
		want := "an anchor and a positive, or two sentences and a score"
		if s.config.Ranked {
			want = "a query, a passage and a label"
		}
		return fmt.Errorf("got %s, want %s", got, want)
	case !s.config.Ranked && len(e.Texts) != of.Texts || (e.Score != nil) != of.Scored:
		return fmt.Errorf("got %s, want %s as in the first example", got, form(of.Texts, of.Scored))
	case s.config.Ranked && (e.Score == nil || !(*e.Score >= 0 && *e.Score <= 1)):
		return errors.New("got no label from 0 to 1, want a query, a passage and a label")
	case s.config.Ranked:
		return nil
	case e.Score != nil && *e.Score-*e.Score != 0:
		return fmt.Errorf("score: got %v, want a finite number", *e.Score)
	}
	return nil
}
