package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/train/text/jinja"
)

// exampleForm is a form of the rows of a file: the keys that identify it, other keys that it reads, and keys that it
// refuses because they would change the loss.
type exampleForm struct {
	needs, reads, refuses []string
	read                  func(row *jinja.Dict) (Example, error)
}

// talks are the keys that every form of a conversation accepts.
var talks = []string{"system", "tools", "chat_template_kwargs"}

// exampleForms lists all forms, conversations first. The keys are those of OpenAI, TRL, axolotl, LlamaFactory, unsloth,
// mlx-lm and sentence-transformers.
var exampleForms = []exampleForm{
	{[]string{"messages"}, talks, []string{"history"}, conversationAt("messages")},
	{[]string{"conversations"}, talks, []string{"history", "chosen", "rejected"}, conversationAt("conversations")},
	{[]string{"texts"}, talks, []string{"history"}, conversationAt("texts")},
	{[]string{"prompt", "completion"}, talks, []string{"history"}, readPair},
	{[]string{"instruction", "output"}, append([]string{"input", "history"}, talks...), []string{"chosen", "rejected"},
		readAlpaca},
	{[]string{"tokens", "ner_tags"}, nil, nil, readTagged},
	{[]string{"query", "passage"}, []string{"label"}, nil, scoredAt("query", "passage", "label")},
	{[]string{"query", "text"}, []string{"label"}, nil, scoredAt("query", "text", "label")},
	{[]string{"text"}, []string{"label"}, []string{"tools", "chat_template_kwargs"}, readText},
	{[]string{"anchor"}, []string{"positive", "negative"}, []string{"label", "score"}, readAnchor},
	{[]string{"sentence1"}, []string{"sentence2", "score"}, []string{"label"}, scoredAt("sentence1", "sentence2", "score")},
}

// refusedKeys are keys that would change the loss in every form: pictures and sounds, tokens and their masks, functions
// in OpenAI's former form, and the system message under another name.
var refusedKeys = []string{"images", "image", "videos", "video", "audios", "audio", "input_ids", "completion_mask",
	"assistant_masks", "functions", "system_prompt"}

// verdicts are keys of preference data that mark rows to learn from (TRL's label, LlamaFactory's kto_tag).
var verdicts = []string{"label", "kto_tag"}

// formOfRow returns the form of a row.
func formOfRow(row *jinja.Dict) (exampleForm, error) {
	for _, f := range exampleForms {
		if hasAll(row, f.needs) {
			return f, nil
		}
	}
	return exampleForm{}, fmt.Errorf("got the keys %s, want messages, conversations, prompt and completion, instruction "+
		"and output, tokens and ner_tags, query and passage, text, anchor and positive, or sentence1, sentence2 and score",
		names(row.Keys()))
}

// readRow returns the example of a row, and the names of its ignored keys.
func readRow(row *jinja.Dict) (e Example, unread []string, err error) {
	f, err := formOfRow(row)
	if err != nil {
		return e, nil, err
	}
	for _, key := range row.Keys() {
		switch value, _ := row.Get(key); {
		case isEmpty(value) || slices.Contains(f.needs, key) || slices.Contains(f.reads, key):
		case slices.Contains(f.refuses, key) || slices.Contains(refusedKeys, key):
			return e, nil, fmt.Errorf("%s: got it beside %s, want none: it is not read here and would change what is learned",
				key, f.needs[0])
		case value == false && slices.Contains(verdicts, key):
			return e, nil, fmt.Errorf("%s: got false, want rows to learn from only", key)
		default:
			unread = append(unread, key)
		}
	}
	if e, err = f.read(row); err == nil {
		err = e.validate()
	}
	return e, unread, err
}

func hasAll(row *jinja.Dict, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		value, _ := row.Get(key)
		return value == nil
	})
}

// isEmpty reports whether a value is empty.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case *jinja.Dict:
		return len(v.Keys()) == 0
	}
	return false
}

// conversationAt returns the reader of rows whose messages are under a key.
func conversationAt(key string) func(row *jinja.Dict) (Example, error) {
	return func(row *jinja.Dict) (e Example, err error) {
		if e.Messages, err = messagesAt(row, key); err != nil {
			return e, err
		}
		return e, e.frame(row)
	}
}

// readPair reads a prompt and its completion.
func readPair(row *jinja.Dict) (e Example, err error) {
	if value, _ := row.Get("prompt"); !isText(value, new(string)) {
		prompt, err := messagesAt(row, "prompt")
		if err != nil {
			return e, err
		}
		for i := range prompt {
			prompt[i].Weight = new(0.0)
		}
		completion, err := messagesAt(row, "completion")
		if err != nil {
			return e, err
		}
		e.Messages = append(prompt, completion...)
		return e, e.frame(row)
	}
	texts, err := textsAt(row, "prompt", "completion")
	if err != nil {
		return e, err
	}
	e.Messages = answered(texts[0], texts[1])
	err = e.frame(row)
	e.Pair = len(e.Messages) == 2 && e.Tools == nil
	return e, err
}

// readAlpaca reads an instruction and its output, after earlier instructions, whose outputs are also learned
// (LlamaFactory).
func readAlpaca(row *jinja.Dict) (e Example, err error) {
	texts, err := textsAt(row, "instruction", "input", "output")
	if err != nil {
		return e, err
	}
	history, err := listAt(row, "history")
	if err != nil {
		return e, err
	}
	for i, turn := range history {
		var asked, said string
		pair, _ := turn.([]any)
		if len(pair) != 2 || !isText(pair[0], &asked) || !isText(pair[1], &said) {
			return e, fmt.Errorf("history: got %s in element %d, want an instruction and an output", shown(turn), i+1)
		}
		e.Messages = append(e.Messages, answered(asked, said)...)
	}
	e.Messages = append(e.Messages, answered(withInput(texts[0], texts[1]), texts[2])...)
	return e, e.frame(row)
}

// readText reads a text and its class: the class is a string, an integer or a boolean.
func readText(row *jinja.Dict) (e Example, err error) {
	texts, err := textsAt(row, "text")
	if err != nil {
		return e, err
	}
	e.Text = texts[0]
	switch label, _ := row.Get("label"); label.(type) {
	case nil:
	case string, int, bool:
		e.Label = fmt.Sprint(label)
	default:
		err = fmt.Errorf("label: got %s, want a text or a whole number", shown(label))
	}
	return e, err
}

// frame reads the other keys of a conversation's row.
func (e *Example) frame(row *jinja.Dict) error {
	texts, err := textsAt(row, "system")
	switch system, first := strings.Join(texts, ""), e.Messages[0]; {
	case err != nil:
		return err
	case system != "" && first.Role != "system":
		e.Messages = append([]Message{{Role: "system", Content: system}}, e.Messages...)
	case system != "" && first.Text() != system:
		return errors.New("system: got another text than the system message, want one of them")
	}
	if e.Tools, err = listAt(row, "tools"); err != nil {
		return err
	}
	value, err := jsonAt(row, "chat_template_kwargs")
	if err != nil || isEmpty(value) {
		return err
	}
	variables, ok := value.(*jinja.Dict)
	if !ok {
		return fmt.Errorf("chat_template_kwargs: got %s, want an object", shown(value))
	}
	for _, key := range []string{"messages", "add_generation_prompt", "continue_final_message", "chat_template",
		"tokenize"} {
		if _, ok := variables.Get(key); ok {
			return fmt.Errorf("chat_template_kwargs: got %s, want other variables of the template", key)
		}
	}
	e.Variables = variables
	return nil
}

// listAt returns the list under a key; nil if there is none.
func listAt(row *jinja.Dict, key string) ([]any, error) {
	value, err := jsonAt(row, key)
	list, ok := value.([]any)
	if err == nil && !ok && !isEmpty(value) {
		err = fmt.Errorf("%s: got %s, want a list", key, shown(value))
	}
	return list, err
}

// messagesAt reads the messages under a key: a list, or its JSON as a text.
func messagesAt(row *jinja.Dict, key string) ([]Message, error) {
	list, err := listAt(row, key)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: got none, want a list of messages", key)
	}
	all := make([]Message, len(list))
	for i, of := range list {
		if all[i], err = readMessage(of); err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", key, i+1, err)
		}
	}
	return all, nil
}

// jsonAt returns the value under a key, which may be JSON in a string, as in tables; nil if it is empty.
func jsonAt(row *jinja.Dict, key string) (value any, err error) {
	value, _ = row.Get(key)
	if text, ok := value.(string); ok && text != "" {
		if value, err = jinja.DecodeJSON([]byte(text)); err != nil {
			return nil, fmt.Errorf("%s: got %s, want JSON", key, shown(text))
		}
	}
	return value, nil
}

// textsAt returns the texts under keys; "" for a missing key.
func textsAt(row *jinja.Dict, keys ...string) ([]string, error) {
	texts := make([]string, len(keys))
	for i, key := range keys {
		if value, _ := row.Get(key); value != nil && !isText(value, &texts[i]) {
			return nil, fmt.Errorf("%s: got %s, want a string", key, shown(value))
		}
	}
	return texts, nil
}
