package text_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// chatTokenizer returns a byte-level tokenizer that has special tokens, and the id of the one that ends a turn.
func chatTokenizer(t *testing.T, special ...string) (*text.SubwordTokenizer, int) {
	tokenizer, err := text.ReadTokenizer(chatTokenizerFile(t, special...))
	require.NoError(t, err)
	end, ok := tokenizer.ID(special[len(special)-1])
	require.True(t, ok)
	return tokenizer, end
}

// chatTokenizerFile returns the tokenizer.json of a byte-level tokenizer that has special tokens.
func chatTokenizerFile(t *testing.T, special ...string) []byte {
	learned, err := text.LearnBytePairs(strings.Repeat("the answer is the answer to it all ", 50), 270)
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, json.Unmarshal(learned, &file))
	for i, token := range special {
		file["added_tokens"] = append(file["added_tokens"].([]any), map[string]any{"id": 270 + i, "content": token,
			"special": true, "normalized": false, "lstrip": false, "rstrip": false, "single_word": false})
	}
	data, err := json.Marshal(file)
	require.NoError(t, err)
	return data
}

// learned returns the text of a lesson, with the learned parts in braces.
func learned(t *testing.T, tokenizer text.Tokenizer, l text.Lesson) string {
	require.Len(t, l.Learned, len(l.IDs))
	var shown strings.Builder
	on := false
	for i, id := range append(l.IDs, 0) {
		is := i < len(l.IDs) && l.Learned[i]
		if is != on {
			shown.WriteString(map[bool]string{true: "{", false: "}"}[is])
		}
		if on = is; i == len(l.IDs) {
			break
		}
		token, err := tokenizer.Decode([]int{id})
		require.NoError(t, err)
		shown.WriteString(token)
	}
	return shown.String()
}

// TestLessons: the loss counts the assistant's texts, token by token, up to the token that ends each.
func TestLessons(t *testing.T) {
	tokenizer, end := chatTokenizer(t, "<|im_start|>", "<|im_end|>")
	talk := []text.Message{say("system", "Be short."), say("user", "Why?"), say("assistant", "the answer"), say("user", "And?"),
		say("assistant", " it is\n")}
	unweighted := append(append([]text.Message{}, talk[:2]...), text.Message{Role: "assistant", Content: "no", Weight: new(0.0)})
	unweighted = append(unweighted, talk[3:]...)
	thoughts := []text.Message{say("user", "2+2?"), say("assistant", "<think>\nadd\n</think>\n\n4"), say("user", "3+3?"),
		say("assistant", "<think>\nmore\n</think>\n\n6")}
	const system = "<|im_start|>system\nBe short.<|im_end|>\n"
	turn := func(role, said string) string { return "<|im_start|>" + role + "\n" + said + "<|im_end|>\n" }
	answer := func(said string) string { return "<|im_start|>assistant\n{" + said + "<|im_end|>}\n" }
	for _, row := range []struct {
		name, template string
		example        text.Example
		prompts        bool
		want           string
		lastOnly       bool
	}{
		{name: "turns", template: "qwen2.5", example: text.Example{Messages: talk},
			want: system + turn("user", "Why?") + answer("the answer") + turn("user", "And?") + answer(" it is\n")},
		{name: "weight 0", template: "qwen2.5", example: text.Example{Messages: unweighted},
			want: system + turn("user", "Why?") + turn("assistant", "no") + turn("user", "And?") + answer(" it is\n")},
		{name: "prompts too", template: "qwen2.5", example: text.Example{Messages: talk[:3]}, prompts: true,
			want: "{" + system + turn("user", "Why?") + turn("assistant", "the answer") + "}"},
		{name: "thoughts that are dropped", template: "qwen3", example: text.Example{Messages: thoughts}, lastOnly: true,
			want: turn("user", "2+2?") + turn("assistant", "4") + turn("user", "3+3?") + answer("<think>\nmore\n</think>\n\n6")},
		{name: "an empty answer", template: "qwen2.5", example: text.Example{Messages: []text.Message{say("user", "Why?"),
			say("assistant", "")}}, want: "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful " +
			"assistant.<|im_end|>\n" + turn("user", "Why?") + answer("")}, // the end is learned, as in TRL
		{name: "a text", template: "qwen2.5", example: text.Example{Text: "it all"}, want: "{it all<|im_end|>}"},
		{name: "a text with its end", template: "qwen2.5", example: text.Example{Text: "it all<|im_end|>"},
			want: "{it all<|im_end|>}"}, // as TRL 1.16's add_eos, which uses endswith; so an end is added after a newline
		{name: "a text with a line's end", template: "qwen2.5", example: text.Example{Text: "it all<|im_end|>\n"},
			want: "{it all<|im_end|>\n<|im_end|>}"},
	} {
		l, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: tokenizer,
			Template: templateOf(t, row.template+".jinja"),
			Ends:     []int{end}, TrainOnPrompts: row.prompts})
		require.NoError(t, err)
		lesson, whole, err := l.Of(t.Context(), row.example)
		require.NoError(t, err)
		require.Equal(t, row.want, learned(t, tokenizer, lesson), row.name)
		require.Equal(t, !row.lastOnly, whole, row.name)
		if row.example.Messages == nil {
			asked, err := l.Asked(row.example.Text)
			require.NoError(t, err)
			require.Equal(t, lesson.IDs, asked, row.name)
		}
	}
}

// TestLessonsEnd: a conversation that ends with an answer without an end token gets one, which is learned. None is
// added after a user's message, or after an answer of weight 0.
func TestLessonsEnd(t *testing.T) {
	tokenizer, end := chatTokenizer(t, "<|other|>", "<|end|>")
	const plain, inst = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}" +
		"assistant: {% endif %}", "{% for m in messages %}{% if m.role == 'user' %}<|other|> {{ m.content }} <|other|>" +
		"{% else %} {{ m.content }}<|end|>{% endif %}{% endfor %}"
	const block = "{% for m in messages %}{% if m.role == 'user' %}Q: {{ m.content }}\nA: {% else %}{% generation %}" +
		"{{ m.content }}{% endgeneration %}{{ ' ' }}{% endif %}{% endfor %}"
	unlearned := text.Message{Role: "assistant", Content: "c", Weight: new(0.0)}
	for _, row := range []struct {
		name, template string
		messages       []text.Message
		prompts        bool
		want           string
	}{
		{"an answer", block, []text.Message{say("user", "a"), say("assistant", "b")}, false, "Q: a\nA: {b<|end|>}"},
		{"an empty answer", block, []text.Message{say("user", "a"), say("assistant", "")}, false, "Q: a\nA:  {<|end|>}"},
		{"the user last", block, []text.Message{say("user", "a"), say("assistant", "b"), say("user", "c")}, false,
			"Q: a\nA: {b} Q: c\nA: "},
		{"weight 0 last", block, []text.Message{say("user", "a"), say("assistant", "b"), unlearned}, false,
			"Q: a\nA: {b} c "},
		{"no blocks", plain, []text.Message{say("user", "a"), say("assistant", "b"), say("user", "c"),
			say("assistant", "d")}, false, "user: a\nassistant: {b}\nuser: c\nassistant: {d<|end|>}"},
		{"no blocks, an empty answer", plain, []text.Message{say("user", "a"), say("assistant", "")}, false,
			"user: a\nassistant: {<|end|>}"},
		{"no blocks, the user last", plain, []text.Message{say("assistant", "b"), say("user", "c")}, false,
			"assistant: {b}\nuser: c\n"},
		{"no blocks, weight 0 last", plain, []text.Message{say("user", "a"), say("assistant", "b"), unlearned}, false,
			"user: a\nassistant: {b}\nassistant: c\n"},
		{"prompts too, the user last", plain, []text.Message{say("assistant", "b"), say("user", "c")}, true,
			"{assistant: b\nuser: c\n}"},
		{"Mistral's form, the user last", inst, []text.Message{say("user", "a"), say("assistant", "b"), say("user", "c")},
			false, "<|other|> a <|other|>{ b<|end|>}<|other|> c <|other|>"},
		{"a text that ends", plain, nil, false, "{a<|end|>}"},
	} {
		template, err := text.ParseTemplate(row.template)
		require.NoError(t, err)
		l, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: tokenizer, Template: template,
			Ends: []int{end}, TrainOnPrompts: row.prompts})
		require.NoError(t, err)
		lesson, whole, err := l.Of(t.Context(), text.Example{Messages: row.messages, Text: "a"})
		require.NoError(t, err, row.name)
		require.True(t, whole)
		require.Equal(t, row.want, learned(t, tokenizer, lesson), row.name)
	}
}

func TestWrongLessons(t *testing.T) {
	tokenizer, end := chatTokenizer(t, "<|end|>")
	for _, row := range []struct {
		config text.LessonConfig
		want   string
	}{
		{text.LessonConfig{}, "text: lessons: Tokenizer: got nil, want one"},
		{text.LessonConfig{Tokenizer: tokenizer}, "text: lessons: Ends: got none, want an id that ends a text"},
		{text.LessonConfig{Tokenizer: tokenizer, Ends: []int{end, 300}},
			"text: lessons: Ends: text: ids: got 300 at position 0, want 0 to 270"},
		{text.LessonConfig{Tokenizer: tokenizer, Ends: []int{end}, Template: templateOf(t, "qwen3.jinja")},
			"text: lessons: template: got the token <|im_start|>, which the tokenizer does not have, want another template"},
	} {
		_, err := text.NewLessons(t.Context(), row.config)
		require.EqualError(t, err, row.want)
	}
	l, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: tokenizer, Ends: []int{end}})
	require.NoError(t, err)
	_, _, err = l.Of(t.Context(), text.Example{Messages: []text.Message{say("user", "a"), say("assistant", "b")}})
	require.EqualError(t, err, "got a conversation without a template, want one")
}

// For texts, and for prompts with completions without a template, the ids, the end token and the mask of the completion
// equal those of TRL's SFTTrainer (testdata/rows/lessons.py).
func TestLessonsAsTRL(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "rows", "lessons.json"))
	require.NoError(t, err)
	var stored []struct {
		Tokenizer json.RawMessage
		Rows      []struct {
			Row     json.RawMessage
			IDs     []int
			Learned []bool
		}
	}
	require.NoError(t, json.Unmarshal(data, &stored))
	for _, of := range stored {
		tokenizer, err := text.ReadTokenizer(of.Tokenizer)
		require.NoError(t, err)
		end, ok := tokenizer.ID("</s>")
		require.True(t, ok)
		l, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: tokenizer, Ends: []int{end}})
		require.NoError(t, err)
		require.Len(t, of.Rows, 16)
		for _, row := range of.Rows {
			var e text.Example
			require.NoError(t, json.Unmarshal(row.Row, &e))
			lesson, whole, err := l.Of(t.Context(), e)
			require.NoError(t, err)
			require.True(t, whole)
			require.Equal(t, row.IDs, lesson.IDs, "%s", row.Row)
			require.Equal(t, row.Learned, lesson.Learned, "%s", row.Row)
		}
	}
}
