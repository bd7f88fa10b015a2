package text

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// readTemplate returns the ids that a tokenizer.json puts before and after a text.
func readTemplate(value jsontext.Value) (before, after []int, err error) {
	err = readComponents(value, func(c component) []jsontext.Value { return c.Processors }, 0, func(c component) error {
		switch c.Type {
		case "ByteLevel": // it changes offsets alone
			return nil
		case "TemplateProcessing":
			first, last, err := c.template()
			before, after = append(first, before...), append(after, last...)
			return err
		}
		return unsupported(c.Type, "Sequence, TemplateProcessing, ByteLevel")
	})
	return before, after, err
}

// template returns the ids around the text of a template.
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
