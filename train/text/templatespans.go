package text

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// AssistantSpan is what the assistant says in the text of a conversation, from byte From to byte To: with the token
// that ends it, without what tells whose turn it is.
type AssistantSpan struct {
	From, To int
	Message  int  // index of the message
	Changed  bool // the template gives the message another text than where the conversation ends with it
}

// RenderSpans returns the text of a conversation and the spans of the assistant's messages in it. They are those of the
// template's generation blocks, if there are any: a message may have several. Otherwise a message begins where the text
// of the messages before it ends, and ends where the text of the messages up to it does. If a template gives earlier
// messages other texts, it is found by another text in its place.
func (t *Template) RenderSpans(ctx context.Context, messages []Message, c TemplateConfig) (text string,
	spans []AssistantSpan, err error) {
	text, blocks, err := t.render(ctx, messages, c)
	if err != nil {
		return "", nil, err
	}
	for _, b := range blocks {
		if b.Message < 0 {
			return "", nil, errors.New("text: template: got a generation block outside of a loop over messages, want it within")
		}
	}
	if len(blocks) > 0 {
		return text, blocks, nil
	}
	for i, m := range messages {
		if m.Role != "assistant" {
			continue
		}
		s, ok := t.between(ctx, text, messages[:i+1], c)
		if !ok {
			s, ok = t.inPlace(ctx, text, messages, i, c)
		}
		if !ok {
			return "", nil, fmt.Errorf("text: template: got no generation blocks, and a text in which message %d "+
				"cannot be told from the others, want blocks", i+1)
		}
		spans = append(spans, s)
	}
	return text, spans, nil
}

// between returns the span of the last of the messages in a text that begins with theirs, and reports whether it does.
func (t *Template) between(ctx context.Context, text string, messages []Message, c TemplateConfig) (s AssistantSpan,
	ok bool) {
	s.Message = len(messages) - 1
	c.AddGenerationPrompt = true
	before, _, err := t.render(ctx, messages[:s.Message], c)
	if err != nil || !strings.HasPrefix(text, before) {
		return s, false
	}
	c.AddGenerationPrompt = false
	upTo, _, err := t.render(ctx, messages, c)
	s.From, s.To = len(before), len(upTo)
	return s, err == nil && s.From <= s.To && strings.HasPrefix(text, upTo)
}

// stand stands for a content: no template looks for it.
const stand = "\ue000\ue001\ue002"

// inPlace returns the span of message i in the text of messages, and reports whether another content in its place
// changes only that part.
func (t *Template) inPlace(ctx context.Context, text string, messages []Message, i int, c TemplateConfig) (
	s AssistantSpan, ok bool) {
	marked := slices.Clone(messages)
	marked[i].Content, marked[i].Parts = stand, nil
	whole, _, err := t.render(ctx, marked, c)
	before, after, ok := strings.Cut(whole, stand)
	if err != nil || !ok || !strings.HasPrefix(text, before) || !strings.HasSuffix(text[len(before):], after) {
		return s, false
	}
	c.AddGenerationPrompt = false
	upTo, _, err := t.render(ctx, marked[:i+1], c)
	_, end, ok := strings.Cut(upTo, stand)
	s = AssistantSpan{len(before), len(text) - len(after), i, true}
	for n := 0; n < min(len(end), len(after)) && end[n] == after[n]; n++ {
		s.To++
	}
	for s.To < len(text) && !utf8.RuneStart(text[s.To]) {
		s.To--
	}
	return s, err == nil && ok
}
