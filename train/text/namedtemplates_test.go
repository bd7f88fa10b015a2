package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestNamedTemplates: the templates for models without one use the special tokens of the model's folder.
func TestNamedTemplates(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.jinja")
	require.NoError(t, os.WriteFile(file, []byte("{{ bos_token }}{{ messages[0].content }}"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer_config.json"),
		[]byte(`{"bos_token": "<s>", "eos_token": "</s>", "chat_template": "own"}`), 0o644))
	const alpaca = "Below is an instruction that describes a task. Write a response that appropriately completes the " +
		"request."
	system := say("system", "Be short.")
	talk := []text.Message{say("user", "Why?"), say("assistant", "So."), say("user", "And?")}
	for _, row := range []struct {
		name   string
		talk   []text.Message
		prompt bool
		want   string
	}{
		{text.ChatML, talk, true, "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\nSo.<|im_end|>\n" +
			"<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n"},
		{text.ChatML, []text.Message{system, talk[0]}, false,
			"<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n"},
		{text.Alpaca, talk[:1], true, alpaca + "\n\n### Instruction:\nWhy?\n\n### Response:\n"},
		{text.Alpaca, append([]text.Message{system}, talk...), true, "Be short.\n\n### Instruction:\nWhy?\n\n" +
			"### Response:\nSo.</s>\n\n### Instruction:\nAnd?\n\n### Response:\n"},
		{file, talk, true, "<s>Why?"},
		{"", talk, true, "own"},
	} {
		source, err := text.ReadTemplate(row.name)
		require.NoError(t, err)
		template, err := text.OpenTemplate(dir, source, nil)
		require.NoError(t, err)
		got, err := template.Render(t.Context(), row.talk, text.TemplateConfig{AddGenerationPrompt: row.prompt})
		require.NoError(t, err)
		require.Equal(t, row.want, got, row.name)
	}
	_, err := text.ReadTemplate("vicuna")
	require.EqualError(t, err, `got "vicuna", want chatml, alpaca or a file with a template`)
	require.NoError(t, os.WriteFile(file, []byte("{% if %}"), 0o644))
	_, err = text.ReadTemplate(file)
	require.ErrorContains(t, err, file+": text: template: ")
	alpacas, err := text.OpenTemplate(dir, text.Alpaca, nil)
	require.NoError(t, err)
	_, err = alpacas.Render(t.Context(), append(talk, system), text.TemplateConfig{})
	require.ErrorContains(t, err, "the template refuses: got the role system, want user, assistant or, at the beginning,")
}

// A text of Alpaca begins with a token only if the tokenizer puts one before each text. tokenizer_config.json may name
// such a token even if the tokenizer puts none, as GPT-2's does.
func TestTemplatesBeginAsTexts(t *testing.T) {
	plain, err := text.LearnBytePairs("the cat", 257)
	require.NoError(t, err)
	begun := strings.Replace(string(plain), `"post_processor": null`, `"post_processor": {"type": "TemplateProcessing",`+
		`"single": [{"SpecialToken": {"id": "<|endoftext|>"}}, {"Sequence": {"id": "A"}}],`+
		`"special_tokens": {"<|endoftext|>": {"ids": [256]}}}`, 1)
	const mine = "{{ bos_token }}{{ messages[0].content }}"
	for _, row := range []struct{ file, config, source, begin string }{
		{string(plain), `{"bos_token": "<s>"}`, text.Alpaca, "Below"},
		{string(plain), `{"bos_token": "<s>"}`, mine, "<s>Why?"},
		{string(plain), `{}`, mine, "Why?"},
		{begun, `{"bos_token": "<s>"}`, text.Alpaca, "<s>Below"},
		{begun, `{}`, text.Alpaca, "<|endoftext|>Below"},
		{begun, `{}`, text.ChatML, "<|im_start|>"},
		{begun, `{}`, mine, "<|endoftext|>Why?"},
	} {
		tokenizer, err := text.ReadTokenizer([]byte(row.file))
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer_config.json"), []byte(row.config), 0o644))
		template, err := text.OpenTemplate(dir, row.source, tokenizer)
		require.NoError(t, err)
		got, err := template.Render(t.Context(), []text.Message{say("user", "Why?")}, text.TemplateConfig{})
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(got, row.begin), "%s\n%s", got, row)
	}
}
