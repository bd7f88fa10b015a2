package text

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/internal/oneline"
	"attention/train/text/jinja"
)

// roleNames maps other names of roles in files of conversations, those of ShareGPT, axolotl, unsloth and LlamaFactory,
// to the usual names. Templates define the meaning of roles.
var roleNames = map[string]string{
	"human": "user", "input": "user",
	"gpt": "assistant", "chatgpt": "assistant", "bot": "assistant", "model": "assistant", "output": "assistant",
	functionCall: "assistant", "observation": "tool",
}

// functionCall is LlamaFactory's role name for an assistant's message that calls functions: the content is JSON of the
// calls.
const functionCall = "function_call"

// acceptedRoles are the roles that errors about roles list.
const acceptedRoles = "system, user (or human), assistant (or gpt), tool (or observation) or function_call"

// mapRole returns the usual name of a role. An unknown role under ShareGPT's key from is an error; under role, it may
// be a role that the template knows.
func (m *Message) mapRole(key string) error {
	if of, ok := roleNames[m.Role]; ok {
		m.Role = of
	} else if key == "from" && !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
		return fmt.Errorf("from: got %.40q, want %s", m.Role, acceptedRoles)
	}
	return nil
}

// call converts a content that is JSON of calls to tool_calls.
func (m *Message) call() error {
	value, err := jinja.DecodeJSON([]byte(m.Text()))
	calls, many := value.([]any)
	if !many {
		calls = []any{value}
	}
	for i, of := range calls {
		d, ok := of.(*jinja.Dict)
		if err != nil || !ok {
			return fmt.Errorf("%s: got a content that is no JSON of a call, want an object with name and arguments",
				functionCall)
		}
		call := &jinja.Dict{}
		call.Set("type", "function")
		call.Set("function", d)
		calls[i] = call
	}
	m.Content, m.Parts, m.NoContent = "", nil, true
	m.Other.Set("tool_calls", calls)
	return nil
}

// weightNames lists the keys that say whether a message is learned: OpenAI's, Mistral's and Together's weight,
// LlamaFactory's loss_weight, axolotl's train and training, ms-swift's loss and loss_scale; and torchtune's masked,
// which marks a message that is not learned.
var weightNames = []string{"weight", "loss_weight", "train", "training", "trainable", "train_on_turn", "loss",
	"loss_scale", masked}

const masked = "masked"

func isWeight(key string) bool { return slices.Contains(weightNames, key) }

// weightOf returns the weight of a value: 0 or 1.
func weightOf(key string, value any) (weight float64, err error) {
	switch value {
	case true, 1, 1.0:
		weight = 1
	case false, 0, 0.0:
	default:
		return 0, fmt.Errorf("got %s, want 0 or 1", shown(value))
	}
	if key == masked {
		weight = 1 - weight
	}
	return weight, nil
}

// weigh sets the weight; all keys that give one must agree.
func (m *Message) weigh(key string, value any) error {
	weight, err := weightOf(key, value)
	if err == nil && m.Weight != nil && *m.Weight != weight {
		err = fmt.Errorf("got %s, want what the other key says", shown(value))
	}
	m.Weight = &weight
	return err
}

// reasoningContent is the key under which templates expect the assistant's thoughts.
const reasoningContent = "reasoning_content"

// reasoningNames are all keys of thoughts. If a message has several, the last counts.
var reasoningNames = []string{"reasoning", "thinking", reasoningContent}

// keep stores the value of another key for the template, and returns an error for a key that would change the loss.
func (m *Message) keep(key string, value any) error {
	_, text := value.(string)
	switch {
	case key == "train_detail" || key == "training_detail":
		return errors.New("got it, want none: a message is learned whole or not at all")
	case key == functionCall:
		return errors.New("got it, want tool_calls")
	case !text && slices.Contains(reasoningNames, key):
		return fmt.Errorf("got %s, want a text", shown(value))
	}
	m.Other.Set(key, value)
	return nil
}

// shown returns the beginning of a JSON value.
func shown(value any) string {
	d := &jinja.Dict{}
	d.Set("", value)
	text, err := d.MarshalJSON()
	if err != nil {
		return "another value"
	}
	_, of, _ := strings.Cut(strings.TrimSuffix(string(text), "}"), ":")
	runes := []rune(strings.TrimSpace(of))
	if len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return strings.TrimSpace(of)
}

// names returns names in quotes, at most ten of them.
func names(all []string) string {
	quoted := make([]string, len(all))
	for i, name := range all {
		quoted[i] = fmt.Sprintf("%.40q", name)
	}
	return cmp.Or(oneline.List(quoted, 10), "none")
}
