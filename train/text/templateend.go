package text

import (
	"context"
	"strings"
)

// End returns the id of the token that ends an answer: the first token that the template writes after the last message,
// if it is a special token of the tokenizer; otherwise −1.
func (t *Template) End(ctx context.Context, tokenizer Tokenizer, c TemplateConfig) (id int, err error) {
	b, ok := tokenizer.(*SubwordTokenizer)
	if !ok {
		return -1, nil
	}
	c.AddGenerationPrompt = false
	text, err := t.Render(ctx, []Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: stand}}, c)
	if err != nil {
		return -1, err
	}
	_, after, _ := strings.Cut(text, stand)
	ids, err := b.Encode(strings.TrimLeft(after, afterEnd))
	if err != nil || len(ids) == 0 || !b.IsSpecial(ids[0]) {
		return -1, err
	}
	return ids[0], nil
}
