package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/train/text/jinja"
)

// Example is one example to fine-tune a model on.
type Example struct {
	Messages  []Message   // a conversation; nil for a Text
	Pair      bool        // whether the Messages are a prompt and its completion, one text unless there is a template
	Tools     []any       // that the assistant may call, as jinja.DecodeJSON returns them; nil for none
	Variables *jinja.Dict // additional variables for the template; nil for none
	Text      string      // a plain text, all of which is learned
	Label     string      // class of a Text; "" for none
	Texts     []string    // an anchor, its positive and perhaps a negative, or two texts with a Score; nil for others
	Score     *float64    // how similar the two Texts are, or how well the second answers the first
	Words     []string    // of a sentence, each with its tag in Tags; nil for others
	Tags      []string    // such as B-PER, I-PER and O
}

// UnmarshalJSON reads an object of one of these forms, the first whose keys it has:
//
//	{"messages": [{"role": …, "content": …}, …]}
//	{"conversations": [{"from": …, "value": …}, …]}, or with role and content; also texts
//	{"prompt": …, "completion": …}, both texts or both lists of messages
//	{"instruction": …, "input": …, "output": …, "history": [[…, …], …]}, whose input and history may be absent or empty
//	{"tokens": […, …], "ner_tags": […, …]}
//	{"query": …, "passage": …, "label": …}, or with text in place of passage
//	{"text": …}, {"text": …, "label": …}
//	{"anchor": …, "positive": …}, {"anchor": …, "positive": …, "negative": …}
//	{"sentence1": …, "sentence2": …, "score": …}
//
// A conversation may have a system message under system, tools, and chat_template_kwargs. A key that would change the
// loss is an error; other keys are ignored.
func (e *Example) UnmarshalJSON(data []byte) error {
	read, _, err := exampleFromJSON(data)
	if err == nil {
		*e = read
	}
	return err
}

// exampleFromJSON also returns the keys that are ignored.
func exampleFromJSON(data []byte) (e Example, unread []string, err error) {
	if err := config.Foreign.Decode(data, &struct{}{}); err != nil {
		return e, nil, config.JSON(err)
	}
	value, err := jinja.DecodeJSON(data)
	if err != nil {
		return e, nil, err
	}
	row, ok := value.(*jinja.Dict)
	if !ok {
		return e, nil, errors.New("got null, want an object")
	}
	return readRow(row)
}

// exampleFromLine returns the example of a line of plain text.
func exampleFromLine(line []byte) (e Example, unread []string, err error) {
	e.Text = string(line)
	return e, nil, Check(line)
}

// Rendering returns how the example's conversation is rendered, given the settings c for all examples.
func (e Example) Rendering(c TemplateConfig) TemplateConfig {
	c.Tools, c.Variables = e.Tools, e.Variables
	return c
}

// answered returns the conversation of a question and its answer.
func answered(question, answer string) []Message {
	return []Message{{Role: "user", Content: question}, {Role: "assistant", Content: answer}}
}

// withInput returns an instruction followed by its input under a heading, as in the Alpaca prompt.
func withInput(instruction, input string) string {
	if input == "" {
		return instruction
	}
	return instruction + "\n\n### Input:\n" + input
}

// validate returns an error for an example without learned tokens.
func (e Example) validate() error {
	if e.Texts != nil || e.Words != nil { // which their forms have checked
		return nil
	}
	if e.Messages == nil {
		if strings.TrimSpace(e.Text) == "" {
			return errors.New("text: got nothing, want some")
		}
		return nil
	}
	var roles []string
	for _, m := range e.Messages {
		roles = append(roles, m.Role)
		if m.Role == "assistant" && m.learned() {
			return nil
		}
	}
	return fmt.Errorf("messages: got the roles %s and no answer of the assistant to learn, want one; known are %s",
		names(slices.Compact(slices.Sorted(slices.Values(roles)))), acceptedRoles)
}

// Thinks reports whether an answer of the example has thoughts.
func (e Example) Thinks() bool {
	return slices.ContainsFunc(e.Messages, func(m Message) bool {
		has := strings.Contains(m.Text(), "</think>")
		for _, key := range reasoningNames {
			thoughts, _ := m.Other.Get(key)
			said, _ := thoughts.(string)
			has = has || said != ""
		}
		return m.Role == "assistant" && has
	})
}
