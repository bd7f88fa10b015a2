package text

import (
	"errors"
	"fmt"
	"strings"

	"attention/train/text/jinja"
)

// Message is a turn of a conversation. Its JSON is an object as in chat APIs and fine-tuning files, with these keys:
// role; content (a text, or a list of {"type": "text", "text": …}); a key that excludes it from the loss, such as
// weight; and keys for the template, such as tool_calls. In ShareGPT's form the keys are from and value. Keys with null
// count as absent.
type Message struct {
	Role      string     // system, user, assistant, tool or another role that the template knows
	Content   string     // the text, if there are no Parts
	Parts     []string   // the texts of a content that is a list; nil for a single text
	NoContent bool       // the message has no content, unless Content is set: templates see none
	Weight    *float64   // for an assistant's message in fine-tuning; nil means 1, 0 excludes it from the loss
	Other     jinja.Dict // values of other keys
}

// UnmarshalJSON reads a message.
func (m *Message) UnmarshalJSON(data []byte) error {
	value, err := jinja.DecodeJSON(data)
	if err != nil {
		return err
	}
	read, err := readMessage(value)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	*m = read
	return nil
}

// readMessage returns the message of a JSON value.
func readMessage(value any) (m Message, err error) {
	d, ok := value.(*jinja.Dict)
	if !ok {
		return m, errors.New("got no object, want one with role and content")
	}
	role, content := present(d, "role", "from"), present(d, "content", "value")
	said, _ := d.Get(role)
	if !isText(said, &m.Role) || m.Role == "" {
		return m, errors.New("role: got no text, want one such as user")
	}
	if err := m.mapRole(role); err != nil {
		return m, err
	}
	m.NoContent = true
	weighed := "" // the key that decides whether the message is learned
	for _, key := range d.Keys() {
		value, _ := d.Get(key)
		switch {
		case key == role || value == nil:
		case key == content:
			m.NoContent, err = false, m.read(value)
		case isWeight(key):
			weighed, err = key, m.weigh(key, value)
		default:
			err = m.keep(key, value)
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", key, err)
		}
	}
	if weighed != "" && *m.Weight != 0 && m.Role != "assistant" {
		return m, fmt.Errorf("%s: got it for the role %s, want 0: what the assistant says is learned", weighed, m.Role)
	}
	if said == functionCall {
		err = m.call()
	}
	return m, err
}

// present returns the first of the keys that a dict has, or the first key if it has none.
func present(d *jinja.Dict, keys ...string) string {
	for _, key := range keys {
		if _, ok := d.Get(key); ok {
			return key
		}
	}
	return keys[0]
}

// read reads a content.
func (m *Message) read(content any) error {
	if isText(content, &m.Content) {
		return nil
	}
	parts, ok := content.([]any)
	if !ok {
		return fmt.Errorf("got %s, want a text or a list of parts", shown(content))
	}
	m.Parts = make([]string, len(parts))
	for i, part := range parts {
		if err := readPart(part, &m.Parts[i]); err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	return nil
}

// readPart reads a part of a content list.
func readPart(part any, to *string) error {
	d, _ := part.(*jinja.Dict)
	if d == nil {
		return errors.New("got no object, want one with type and text")
	}
	kind := ""
	if value, _ := d.Get("type"); !isText(value, &kind) || kind != "text" {
		return fmt.Errorf("got the type %.30q, want text", kind)
	}
	key := present(d, "text", "value", "content") // value is LlamaFactory's, content is axolotl's
	if value, _ := d.Get(key); !isText(value, to) {
		return fmt.Errorf("got the keys %s, want type and text", names(d.Keys()))
	}
	for _, key := range d.Keys() {
		if value, _ := d.Get(key); isWeight(key) && value != nil {
			if weight, err := weightOf(key, value); err != nil || weight == 0 {
				return fmt.Errorf("%s: got %s, want none: a message is learned whole or not at all", key, shown(value))
			}
		}
	}
	return nil
}

func isText(value any, to *string) bool {
	text, ok := value.(string)
	*to = text
	return ok
}

// learned reports whether fine-tuning learns the message if it is the assistant's.
func (m Message) learned() bool { return m.Weight == nil || *m.Weight != 0 }

// Text returns the content as one text.
func (m Message) Text() string { return m.Content + strings.Join(m.Parts, "") }

// MarshalJSON writes the message in the form that UnmarshalJSON reads.
func (m Message) MarshalJSON() ([]byte, error) {
	d := &jinja.Dict{}
	m.fill(d)
	if m.Weight != nil {
		d.Set("weight", *m.Weight)
	}
	return d.MarshalJSON()
}

// dict returns the message for a template. As in transformers 5, the reasoning has both names reasoning_content and
// thinking, whichever of three names it has in the message.
func (m Message) dict() *jinja.Dict {
	d := &jinja.Dict{}
	var reasoning any
	for _, key := range reasoningNames {
		if value, ok := m.Other.Get(key); ok && value != nil {
			reasoning = value
		}
	}
	if reasoning != nil {
		d.Set("thinking", reasoning)
	}
	m.fill(d)
	if reasoning != nil {
		d.Set(reasoningContent, reasoning)
	}
	return d
}

// fill adds the message's keys to a dict.
func (m Message) fill(d *jinja.Dict) {
	d.Set("role", m.Role)
	if m.Content != "" || !m.NoContent {
		d.Set("content", m.Content)
	}
	if m.Parts != nil {
		list := make([]any, len(m.Parts))
		for i, text := range m.Parts {
			part := &jinja.Dict{}
			part.Set("type", "text")
			part.Set("text", text)
			list[i] = part
		}
		d.Set("content", list)
	}
	for _, key := range m.Other.Keys() {
		value, _ := m.Other.Get(key)
		d.Set(key, value)
	}
}
