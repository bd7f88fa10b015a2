package text_test

import (
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestEnd: the token that ends an answer is the first that a template writes after the last answer.
func TestEnd(t *testing.T) {
	tokenizer, _ := chatTokenizer(t, "<|im_start|>", "<|return|>", "<|im_end|>")
	for _, row := range []struct{ template, want string }{
		{"templates/qwen3.jinja", "<|im_end|>"},
		{"templates/smollm3.jinja", "<|im_end|>"},
		{"templates/mistral.jinja", ""}, // </s> is not a token here
		{"masks/always.jinja", "<|im_end|>"},
		{"masks/between.jinja", "<|im_end|>"},
		{"masks/blocks.jinja", "<|im_end|>"},
		{"masks/end.jinja", "<|im_end|>"}, // and <|endoftext|> after the last answer
		{"masks/inst.jinja", "<|endoftext|>"},
		{"masks/return.jinja", "<|return|>"}, // and <|im_end|> after other messages
		{"masks/think.jinja", "<|im_end|>"},
	} {
		id, err := templateOf(t, "../"+row.template).End(t.Context(), tokenizer, text.TemplateConfig{})
		require.NoError(t, err)
		want, ok := tokenizer.ID(row.want)
		if !ok {
			want = -1
		}
		require.Equal(t, want, id, row.template)
	}
	id, err := templateOf(t, "qwen3.jinja").End(t.Context(), text.ByteTokenizer{}, text.TemplateConfig{})
	require.NoError(t, err)
	require.Equal(t, -1, id)
	refusing, err := text.ParseTemplate("{{ raise_exception('no') }}")
	require.NoError(t, err)
	_, err = refusing.End(t.Context(), tokenizer, text.TemplateConfig{})
	require.ErrorContains(t, err, "the template refuses: no")
}

// TestThinks: thoughts are marked within a content, or have a key of their own.
func TestThinks(t *testing.T) {
	thinking := text.Message{Role: "assistant", Content: "4"}
	thinking.Other.Set("reasoning", "2 and 2")
	empty := text.Message{Role: "assistant", Content: "4"}
	empty.Other.Set("reasoning_content", "")
	for _, row := range []struct {
		messages []text.Message
		want     bool
	}{
		{nil, false},
		{[]text.Message{say("user", "a</think>b"), say("assistant", "b")}, false},
		{[]text.Message{say("user", "a"), say("assistant", "<think>\nb\n</think>\n\nc")}, true},
		{[]text.Message{say("user", "a"), thinking}, true},
		{[]text.Message{say("user", "a"), empty}, false},
	} {
		require.Equal(t, row.want, text.Example{Messages: row.messages}.Thinks())
	}
}
