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

// findEnd finds what the template writes after an answer: a special token, whose id ends answers then, and the first
// line of text after it, such as the heading of the next message, before which an answer ends, too.
func (t *talk) findEnd(ctx context.Context) error {
	talk := append(slices.Clone(t.system), text.Message{Role: "user", Content: aQuestion},
		text.Message{Role: "assistant", Content: anAnswer}, text.Message{Role: "user", Content: aQuestion})
	rendered, err := t.template.Render(ctx, talk, t.rendering)
	if err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	_, after, _ := strings.Cut(rendered, anAnswer)
	after, _, _ = strings.Cut(after, aQuestion)
	if tokenizer, ok := t.model.Tokenizer.(*text.BPETokenizer); ok {
		ids, err := tokenizer.Encode(strings.TrimSpace(after))
		if err != nil {
			return fmt.Errorf("--template: %w", err)
		}
		if len(ids) > 0 && tokenizer.IsSpecial(ids[0]) {
			t.ends = append(t.ends, ids[0])
			after = strings.TrimPrefix(strings.TrimSpace(after), tokenizer.Token(ids[0]))
		}
	}
	t.stop, _, _ = strings.Cut(strings.TrimSpace(after), "\n")
	return nil
}
