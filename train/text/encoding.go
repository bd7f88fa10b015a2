package text

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"attention/internal/config"
)

// Encoding is one text or a pair of texts as tokens, with those of the template around them.
type Encoding struct {
	IDs   []int
	Types []int // of the tokens, as the template says: BERT's are 0 for the first text and 1 for the second
	Texts []int // 0 or 1, the text that a token is in; −1 for tokens of the template
	// Bytes and Runes are the places of the tokens in their texts, from one byte or character up to another. Those of
	// the template are (0, 0).
	Bytes, Runes [][2]int
}

// TruncationStrategy says which of two texts gets shorter.
type TruncationStrategy string

// The kinds of TruncationStrategy, by transformers' names. All remove tokens at the end.
const (
	LongestFirst TruncationStrategy = "longest_first" // of the longer text, then of both
	OnlyFirst    TruncationStrategy = "only_first"
	OnlySecond   TruncationStrategy = "only_second"
)

// TruncationConfig says how long an Encoding may be. The zero value removes nothing.
type TruncationConfig struct {
	MaxLength int                `json:"max_length,omitempty"` // tokens, with those of the template; 0 means no limit
	Strategy  TruncationStrategy `json:"strategy,omitempty"`   // zero means LongestFirst
}

// EncodeTexts returns the tokens of one text or of a pair, in UTF-8. The ids, types and places are those of the Rust
// engine. The tokenizer must be WordPiece with BERT's normalizer or none.
func (t *SubwordTokenizer) EncodeTexts(c TruncationConfig, texts ...string) (*Encoding, error) {
	e, err := t.encodeTexts(c, texts)
	if err != nil {
		return nil, fmt.Errorf("text: encoding: %w", err)
	}
	return e, nil
}

func (t *SubwordTokenizer) encodeTexts(c TruncationConfig, texts []string) (*Encoding, error) {
	template := t.single
	if len(texts) == 2 {
		template = t.pair
	}
	switch {
	case len(texts) < 1 || len(texts) > 2:
		return nil, fmt.Errorf("got %d texts, want one or two", len(texts))
	case t.words == nil || t.normalize != nil && t.bert == nil:
		return nil, fmt.Errorf("got a tokenizer of another model or normalizer, want WordPiece and BertNormalizer")
	case template == nil:
		return nil, fmt.Errorf("got a template that is not for %d texts, want one with each text once", len(texts))
	}
	all := make([]encoder, len(texts))
	lengths := make([]int, len(texts))
	for i, text := range texts {
		all[i] = encoder{SubwordTokenizer: t, places: &places{}}
		if t.bert != nil {
			all[i].places.bert = *t.bert
		}
		if err := all[i].text(text); err != nil {
			return nil, err
		}
		lengths[i] = len(all[i].ids)
	}
	if err := c.cut(lengths, len(template)-len(texts)); err != nil {
		return nil, err
	}
	e := &Encoding{}
	add := func(id, kind, text int, bytes, runes span) {
		e.IDs, e.Types, e.Texts = append(e.IDs, id), append(e.Types, kind), append(e.Texts, text)
		e.Bytes, e.Runes = append(e.Bytes, bytes), append(e.Runes, runes)
	}
	for _, token := range template {
		if token.text < 0 {
			add(token.id, token.kind, -1, span{}, span{})
			continue
		}
		text := texts[token.text]
		runes, n := make([]int, len(text)+1), -1 // the character of each byte
		for i := range len(text) {
			if utf8.RuneStart(text[i]) {
				n++
			}
			runes[i] = n
		}
		runes[len(text)] = n + 1
		from := &all[token.text]
		for i, id := range from.ids[:lengths[token.text]] {
			at := from.places.tokens[i]
			add(id, token.kind, token.text, at, span{runes[at[0]], runes[at[1]]})
		}
	}
	return e, nil
}

// cut makes lengths of texts fit beside the tokens of a template.
func (c TruncationConfig) cut(lengths []int, template int) error {
	strategy := cmp.Or(c.Strategy, LongestFirst)
	if err := cmp.Or(config.AtLeast(c, 0, "MaxLength"),
		config.OneOf(c, "Strategy", strategy, LongestFirst, OnlyFirst, OnlySecond)); err != nil {
		return err
	}
	most, total := c.MaxLength-template, lengths[0]
	if len(lengths) > 1 {
		total += lengths[1]
	}
	of := 0
	switch {
	case c.MaxLength == 0 || total <= most:
		return nil
	case most < 0:
		return config.Errorf(c, "MaxLength", "got %d, want at least the %d tokens of the template", c.MaxLength, template)
	case most == 0:
		clear(lengths)
		return nil
	case strategy == OnlySecond && len(lengths) < 2:
		return config.Errorf(c, "Strategy", "got %s for one text, want two texts", strategy)
	case strategy == OnlySecond:
		of = 1
	case strategy == LongestFirst && len(lengths) == 2:
		short, long := &lengths[0], &lengths[1]
		if *short > *long {
			short, long = long, short
		}
		if *long = max(*short, most-*short); *short+*long > most {
			*short, *long = most/2, most-most/2
		}
		return nil
	}
	if lengths[of] <= total-most {
		return config.Errorf(c, "Strategy", "got %s, which leaves nothing of a text of %d tokens, want a longer one",
			strategy, lengths[of])
	}
	lengths[of] -= total - most
	return nil
}
