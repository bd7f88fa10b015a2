package text

import (
	"errors"
	"fmt"
	"strings"

	"attention/train/text/jinja"
)

// Message is a turn of a conversation. Its JSON is an object as of chat APIs and fine-tuning files: role, content (a
// text, or a list of {"type": "text", "text": …}), weight, and other keys, such as tool_calls, for the template.
type Message struct {
	Role    string     // system, user, assistant, tool or another one that the template knows
	Content string     // the text, without Parts
	Parts   []string   // the texts of a content of parts; nil for one text
	Weight  *float64   // of what the assistant says, in fine-tuning; nil means 1, and 0 not to learn it
	Other   jinja.Dict // values of other keys
}

// UnmarshalJSON reads a message.
func (m *Message) UnmarshalJSON(data []byte) error {
	value, err := jinja.DecodeJSON(data)
	if err != nil {
		return err
	}
	d, ok := value.(*jinja.Dict)
	if !ok {
		return errors.New("message: got no object, want one with role and content")
	}
	*m = Message{}
	if role, _ := d.Get("role"); !isText(role, &m.Role) || m.Role == "" {
		return errors.New("message: role: got no text, want one such as user")
	}
	if content, ok := d.Get("content"); !ok || content == nil {
		m.Other.Set("content", nil)
	} else if err := m.read(content); err != nil {
		return fmt.Errorf("message: content: %w", err)
	}
	for _, key := range d.Keys() {
		value, _ := d.Get(key)
		switch key {
		case "role", "content":
		case "weight":
			if m.Weight, err = weightOf(value); err != nil {
				return err
			}
		default:
			m.Other.Set(key, value)
		}
	}
	return nil
}

// read reads a content.
func (m *Message) read(content any) error {
	if isText(content, &m.Content) {
		return nil
	}
	parts, ok := content.([]any)
	if !ok {
		return errors.New("got another value, want a text or a list of parts")
	}
	m.Parts = make([]string, len(parts))
	for i, part := range parts {
		d, _ := part.(*jinja.Dict)
		if d == nil {
			return fmt.Errorf("part %d: got no object, want one with type and text", i+1)
		}
		kind, text := "", ""
		value, _ := d.Get("type")
		isText(value, &kind)
		if value, _ = d.Get("text"); kind != "text" || !isText(value, &text) {
			return fmt.Errorf("part %d: got the type %.30q, want text", i+1, kind)
		}
		m.Parts[i] = text
	}
	return nil
}

func isText(value any, to *string) bool {
	text, ok := value.(string)
	*to = text
	return ok
}

func weightOf(value any) (*float64, error) {
	if value == nil {
		return nil, nil
	}
	weight, ok := value.(float64)
	if n, whole := value.(int); whole {
		weight, ok = float64(n), true
	}
	if !ok || !(weight >= 0) {
		return nil, errors.New("message: weight: got another value, want a number of at least 0")
	}
	return &weight, nil
}

// Text returns the content as one text.
func (m Message) Text() string { return m.Content + strings.Join(m.Parts, "") }

// MarshalJSON writes the message as UnmarshalJSON reads it.
func (m Message) MarshalJSON() ([]byte, error) {
	d := m.dict()
	if m.Weight != nil {
		d.Set("weight", *m.Weight)
	}
	return d.MarshalJSON()
}

// dict returns the message for a template.
func (m Message) dict() *jinja.Dict {
	d := &jinja.Dict{}
	d.Set("role", m.Role)
	d.Set("content", m.Content)
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
	return d
}
