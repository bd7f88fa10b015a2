package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"attention/train/text"
)

// Stand-ins for what is said in a talk, which no template looks for.
const anAnswer, aQuestion = "\ue000\ue001", "\ue002\ue003"

// findStop finds the first line of text that the template writes after an answer and the token that ends it, such as
// the heading of the next message, before which an answer ends, too.
func (t *talk) findStop(ctx context.Context) error {
	talk := append(slices.Clone(t.system), text.Message{Role: "user", Content: aQuestion},
		text.Message{Role: "assistant", Content: anAnswer}, text.Message{Role: "user", Content: aQuestion})
	rendered, err := t.template.Render(ctx, talk, t.rendering)
	if err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	_, after, _ := strings.Cut(rendered, anAnswer)
	after, _, _ = strings.Cut(after, aQuestion)
	if tokenizer, ok := t.model.Tokenizer.(*text.SubwordTokenizer); ok {
		for _, id := range t.ends {
			after = strings.TrimPrefix(strings.TrimSpace(after), tokenizer.Token(id))
		}
	}
	t.stop, _, _ = strings.Cut(strings.TrimSpace(after), "\n")
	return nil
}
