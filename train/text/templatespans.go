package text

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// AssistantSpan is the part of a conversation's text, from byte From to byte To, that an assistant's message fills:
// with the token that ends it, without the header that names the role.
type AssistantSpan struct {
	From, To int
	Message  int  // index of the message
	Changed  bool // whether the template leaves out a part of the message, such as its thoughts, because others follow
}

// generationBlock matches the beginning of a generation block as transformers does.
var generationBlock = regexp.MustCompile(`\{%-?\s*generation\s*-?%\}`)

// RenderSpans returns the text of a conversation and the spans of the assistant's messages in it. With generation
// blocks in the template, the spans are those of the blocks: a message may have several, and a block outside of the
// loop over the messages belongs to the last one. Without generation blocks, a span is the text that the loop over the
// messages writes for the message, without the generation prompt at its beginning and blanks at its end. The text after
// the loop is another span, if it ends with the message.
func (t *Template) RenderSpans(ctx context.Context, messages []Message, c TemplateConfig) (text string,
	spans []AssistantSpan, err error) {
	a := answers{messages: messages, render: func(of []Message, prompted bool) (rendering, error) {
		c.AddGenerationPrompt = prompted
		return t.render(ctx, of, c)
	}}
	r, err := a.render(messages, false)
	if err != nil {
		return "", nil, err
	}
	if generationBlock.MatchString(t.Source) {
		return r.text, r.blocks, nil
	}
	a.whole = r
	for i, m := range messages {
		if m.Role != "assistant" {
			continue
		}
		s, ok := r.passes[i]
		if s.From == s.To { // for a content without a letter
			_, _, ok = a.around(len(messages), i)
		}
		if !ok {
			return "", nil, fmt.Errorf("text: template: got no generation blocks, and no loop over the messages "+
				"that writes message %d, want one", i+1)
		}
		s.From, s.Changed = s.From+a.header(i), a.changed(i)
		if end := a.end(i); end > 0 {
			spans = append(spans, s, AssistantSpan{s.To, s.To + end, i, s.Changed})
			continue
		}
		s.To = s.From + len(strings.TrimRight(r.text[s.From:s.To], afterEnd))
		spans = append(spans, s)
	}
	return r.text, spans, ctx.Err()
}

// rendering is the text of a conversation with its spans.
type rendering struct {
	text   string
	blocks []AssistantSpan       // spans of the generation blocks
	passes map[int]AssistantSpan // spans that loops over the messages write for each message, by its index
}

// of returns the span of a message.
func (r rendering) of(i int) string { return r.text[r.passes[i].From:r.passes[i].To] }

// tail returns the span after the messages.
func (r rendering) tail() string {
	end := 0
	for _, s := range r.passes {
		end = max(end, s.To)
	}
	return r.text[end:]
}

// answers finds the answers in a conversation by comparing with the texts that the template writes for other contents.
type answers struct {
	render   func(of []Message, prompted bool) (rendering, error)
	messages []Message
	whole    rendering
}

// prompted returns the generation prompt that the template writes after messages.
func (a answers) prompted(messages []Message) (string, error) {
	r, err := a.render(messages, true)
	return r.tail(), err
}

// header returns the length of the text of message i up to the end of the generation prompt, or of the part of the
// prompt that the template writes there, including blanks before the content.
func (a answers) header(i int) (end int) {
	given, prompt := a.whole.of(i), ""
	for _, talk := range [][]Message{a.messages[:i], {{Role: "user", Content: stand}}} {
		if prompt, _ = a.prompted(talk); prompt != "" && strings.HasPrefix(given, prompt) {
			end = len(prompt)
			break
		}
	}
	if prompt == "" || end > 0 && strings.TrimLeft(given[end:], afterEnd) == given[end:] {
		return end
	}
	before, _, _ := a.around(len(a.messages), i)
	if end == 0 {
		switch at := strings.LastIndex(before, prompt); {
		case at >= 0: // after the beginning of the text
			end = at + len(prompt)
		case strings.HasSuffix(prompt, before): // after the end of the message before
			end = len(before)
		default:
			end = common(prompt, before)
		}
		end = common(given, before[:end])
	}
	if strings.HasPrefix(given, before) && end < len(before) && strings.Trim(before[end:], afterEnd) == "" {
		return len(before)
	}
	return end
}

// end returns the length of the text, such as the end of a text, that the template writes after its loop if message i
// is the last one. This counts only if the template writes the same text after the message here. A prompt for another
// answer is not an end.
func (a answers) end(i int) int {
	last, err := a.render(a.messages[:i+1], false)
	end := last.tail()
	if err != nil || end == "" || !strings.HasPrefix(a.whole.text[a.whole.passes[i].To:], end) {
		return 0
	}
	if prompt, err := a.prompted(a.messages[:i+1]); err == nil && prompt == end {
		return 0
	}
	return len(end)
}

// changed reports whether the template writes another text for message i than it would if the conversation ended there,
// ignoring the text that it writes around any content.
func (a answers) changed(i int) bool {
	last, err := a.render(a.messages[:i+1], false)
	if err != nil || last.of(i) == a.whole.of(i) {
		return false
	}
	before, after, ok := a.around(len(a.messages), i)
	lastBefore, lastAfter, lastOK := a.around(i+1, i)
	said, begins := strings.CutPrefix(a.whole.of(i), before)
	said, ends := strings.CutSuffix(said, after)
	return !(ok && lastOK && begins && ends && last.of(i) == lastBefore+said+lastAfter)
}

// stand is a placeholder for a content, which no template treats specially.
const stand = "\ue000\ue001\ue002"

// around returns the texts that the template writes before and after the content of message i, in a conversation of the
// first n messages.
func (a answers) around(n, i int) (before, after string, ok bool) {
	marked := slices.Clone(a.messages[:n])
	marked[i] = Message{Role: marked[i].Role, Content: stand}
	if a.messages[i].Parts != nil {
		marked[i].Content, marked[i].Parts = "", []string{stand}
	}
	r, err := a.render(marked, false)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(r.of(i), stand)
}

// common returns the length of the longest common prefix of two texts.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
