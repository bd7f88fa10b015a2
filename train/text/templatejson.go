package text

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// template is what a tokenizer.json puts around texts. single and pair are nil if it does not have each text once.
type template struct {
	before, after []int // around one text
	single, pair  []templateToken
}

// templateToken is a token of a template, or a text.
type templateToken struct {
	id, kind int
	text     int // 0 or 1; −1 for a token
}

// readTemplate returns the template of a tokenizer.json.
func readTemplate(value jsontext.Value) (t template, err error) {
	t.single, t.pair = []templateToken{{}}, []templateToken{{}, {kind: 1, text: 1}}
	templates := 0
	err = readComponents(value, func(c component) []jsontext.Value { return c.Processors }, 0, func(c component) error {
		switch c.Type {
		case "ByteLevel": // it changes only offsets
			return nil
		case "TemplateProcessing":
			first, last, err := c.template()
			t.before, t.after = append(first, t.before...), append(t.after, last...)
			if templates++; templates > 1 {
				t.single, t.pair = nil, nil
				return err
			}
			var pair []templatePiece
			_ = json.Unmarshal(c.Pair, &pair) // those of other models may have other forms
			t.single, t.pair = c.tokens(c.Single, 1), c.tokens(pair, 2)
			return err
		}
		return unsupported(c.Type, "Sequence, TemplateProcessing, ByteLevel")
	})
	return t, err
}

// tokens returns the tokens of a template; nil if it does not have each of its texts once.
func (c component) tokens(pieces []templatePiece, texts int) (all []templateToken) {
	seen := map[string]int{}
	for _, p := range pieces {
		switch {
		case p.Sequence != nil && p.SpecialToken == nil:
			seen[p.Sequence.ID]++
			all = append(all, templateToken{kind: p.Sequence.TypeID, text: strings.Index("AB", p.Sequence.ID)})
		case p.SpecialToken != nil && p.Sequence == nil:
			token, ok := c.SpecialTokens[p.SpecialToken.ID]
			if !ok {
				return nil
			}
			for _, id := range token.IDs {
				all = append(all, templateToken{id, p.SpecialToken.TypeID, -1})
			}
		}
	}
	if seen["A"] != 1 || seen["B"] != texts-1 || len(seen) != texts {
		return nil
	}
	return all
}

// template returns the ids that a template puts around a text.
func (c component) template() (before, after []int, err error) {
	texts := 0
	for _, p := range c.Single {
		switch {
		case p.Sequence != nil && p.SpecialToken == nil && p.Sequence.ID == "A":
			texts++
		case p.SpecialToken != nil && p.Sequence == nil:
			token, ok := c.SpecialTokens[p.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("single: got token %.100q, want one of special_tokens", p.SpecialToken.ID)
			}
			if texts == 0 {
				before = append(before, token.IDs...)
			} else {
				after = append(after, token.IDs...)
			}
		default:
			return nil, nil, fmt.Errorf("single: got neither a special token nor text A, want one of them")
		}
	}
	if texts != 1 {
		return nil, nil, fmt.Errorf("single: got text A %d times, want it once", texts)
	}
	return before, after, nil
}
