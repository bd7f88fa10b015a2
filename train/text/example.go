package text

import (
	"errors"
	"fmt"
	"strings"

	"attention/internal/config"
)

// Example is one example to fine-tune a model on.
type Example struct {
	Messages []Message // a conversation; nil for a Text
	Text     string    // a plain text, all of which is learned
	Label    string    // the class of a Text; "" for none
}

// exampleFields are the keys of examples that files have; a line has those of one form.
type exampleFields struct {
	Messages []Message `json:"messages"` // OpenAI's, mlx-lm's

	Prompt     *string `json:"prompt"` // mlx-lm's
	Completion *string `json:"completion"`

	Text  *string `json:"text"` // mlx-lm's; with a label of a class
	Label *string `json:"label"`

	Instruction *string `json:"instruction"` // Alpaca's
	Input       string  `json:"input"`
	Output      *string `json:"output"`

	Conversations []shareTurn `json:"conversations"` // ShareGPT's
}

// shareTurn is a turn of a ShareGPT conversation.
type shareTurn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// shareRoles are ShareGPT's names of roles.
var shareRoles = map[string]string{"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
	"chatgpt": "assistant", "bot": "assistant", "system": "system", "tool": "tool"}

// UnmarshalJSON reads an object of one of these forms, and ignores other keys:
//
//	{"messages": [{"role": …, "content": …}, …]}
//	{"prompt": …, "completion": …}
//	{"text": …}, {"text": …, "label": …}
//	{"instruction": …, "input": …, "output": …}, whose input may be absent or empty
//	{"conversations": [{"from": "human" or "gpt", "value": …}, …]}
func (e *Example) UnmarshalJSON(data []byte) error {
	var f exampleFields
	if err := config.Foreign.Decode(data, &f); err != nil {
		return config.JSON(err)
	}
	read, err := f.example()
	if err == nil {
		err = read.validate()
	}
	if err == nil {
		*e = read
	}
	return err
}

func (f exampleFields) example() (Example, error) {
	switch {
	case f.Messages != nil:
		return Example{Messages: f.Messages}, nil
	case f.Prompt != nil && f.Completion != nil:
		return answered(*f.Prompt, *f.Completion), nil
	case f.Text != nil:
		e := Example{Text: *f.Text}
		if f.Label != nil {
			e.Label = *f.Label
		}
		return e, nil
	case f.Instruction != nil && f.Output != nil:
		return answered(withInput(*f.Instruction, f.Input), *f.Output), nil
	case f.Conversations != nil:
		return fromShareGPT(f.Conversations)
	}
	return Example{}, errors.New(`got an object of another form, want messages, prompt and completion, text, ` +
		`instruction and output, or conversations`)
}

// answered returns the conversation of a question and its answer.
func answered(question, answer string) Example {
	return Example{Messages: []Message{{Role: "user", Content: question}, {Role: "assistant", Content: answer}}}
}

// withInput returns an instruction with its input under a heading, as in the Alpaca prompt.
func withInput(instruction, input string) string {
	if input == "" {
		return instruction
	}
	return instruction + "\n\n### Input:\n" + input
}

func fromShareGPT(turns []shareTurn) (e Example, err error) {
	for i, turn := range turns {
		role, ok := shareRoles[turn.From]
		if !ok {
			return e, fmt.Errorf("conversations: turn %d: from: got %.40q, want human, gpt or system", i+1, turn.From)
		}
		e.Messages = append(e.Messages, Message{Role: role, Content: turn.Value})
	}
	return e, nil
}

// validate refuses an example of which nothing is learned.
func (e Example) validate() error {
	if e.Messages == nil {
		if strings.TrimSpace(e.Text) == "" {
			return errors.New("text: got nothing, want some")
		}
		return nil
	}
	learned := false
	for i, m := range e.Messages {
		if m.Role != "assistant" {
			continue
		}
		_, calls := m.Other.Get("tool_calls")
		if strings.TrimSpace(m.Text()) == "" && !calls {
			return fmt.Errorf("messages: got an empty answer in message %d, want some text", i+1)
		}
		if w := m.Weight; w != nil && *w != 0 && *w != 1 {
			return fmt.Errorf("messages: weight: got %v in message %d, want 0 or 1", *w, i+1)
		}
		learned = learned || m.Weight == nil || *m.Weight == 1
	}
	if !learned {
		return errors.New("messages: got no answer of the assistant to learn, want one")
	}
	return nil
}
