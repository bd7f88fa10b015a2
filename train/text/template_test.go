package text_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"attention/train/text"
	"attention/train/text/jinja"

	"github.com/stretchr/testify/require"
)

// moment is the time at which the renderings in testdata were made.
var moment = time.Date(2026, 11, 5, 13, 7, 0, 0, time.UTC)

// conversation is a conversation that testdata/templates/render.py renders.
type conversation struct {
	Messages            []text.Message
	Tools               []json.RawMessage
	AddGenerationPrompt *bool `json:"add_generation_prompt"`
	EnableThinking      *bool `json:"enable_thinking"`
}

func (c conversation) config(t *testing.T) text.TemplateConfig {
	config := text.TemplateConfig{Now: moment, AddGenerationPrompt: c.AddGenerationPrompt == nil || *c.AddGenerationPrompt,
		ThinkingOff: c.EnableThinking != nil && !*c.EnableThinking}
	for _, tool := range c.Tools {
		value, err := jinja.DecodeJSON(tool)
		require.NoError(t, err)
		config.Tools = append(config.Tools, value)
	}
	return config
}

// templateOf returns a template of testdata.
func templateOf(t *testing.T, name string) *text.Template {
	source, err := os.ReadFile(filepath.Join("testdata/templates", name))
	require.NoError(t, err)
	template, err := text.ParseTemplate(string(source))
	require.NoError(t, err, name)
	template.BOS, template.EOS = "<s>", "</s>"
	return template
}

// TestTemplates: conversations are rendered, or refused, as by transformers (testdata/templates/render.py).
func TestTemplates(t *testing.T) {
	var stored struct {
		Conversations map[string]conversation
		Renderings    map[string]map[string]any // texts, or objects with errors
	}
	data, err := os.ReadFile("testdata/templates/renderings.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &stored))
	require.Len(t, stored.Renderings, 7)
	for name, renderings := range stored.Renderings {
		template := templateOf(t, name)
		require.Greater(t, len(renderings), 17)
		for title, want := range renderings {
			c := stored.Conversations[title]
			got, err := template.Render(t.Context(), c.Messages, c.config(t))
			if want, ok := want.(string); ok {
				require.NoError(t, err, "%s: %s", name, title)
				require.Equal(t, want, got, "%s: %s", name, title)
				continue
			}
			message, raised := want.(map[string]any)["raised"].(string)
			require.Error(t, err, "%s: %s", name, title)
			require.Equal(t, raised, jinja.IsRaised(err), "%s: %s", name, title)
			require.ErrorContains(t, err, message, "%s: %s", name, title)
		}
	}
}

// TestTemplatesAnew: the script gives the stored renderings.
func TestTemplatesAnew(t *testing.T) {
	const folder = "testdata/templates"
	python := os.Getenv("ATTENTION_PYTHON")
	if python == "" {
		t.Skip("needs ATTENTION_PYTHON, a Python with the packages of " + folder + "/README.md")
	}
	want, err := os.ReadFile(filepath.Join(folder, "renderings.json"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, "render.py", "-")
	cmd.Dir = folder
	got, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func say(role, content string) text.Message { return text.Message{Role: role, Content: content} }

// TestRenderSpans: the assistant's texts are distinguished from the other texts, with generation blocks and without.
func TestRenderSpans(t *testing.T) {
	talk := []text.Message{say("system", "Be é"), say("user", "Hi"), say("assistant", "Hi"), say("user", "Hello"),
		say("assistant", "Hello, you")}
	thoughts := []text.Message{say("user", "2+2?"), say("assistant", "<think>\nadd\n</think>\n\n4"), say("user", "3+3?"),
		say("assistant", "<think>\nmore\n</think>\n\n6")}
	call := text.Message{Role: "assistant"}
	require.NoError(t, json.Unmarshal([]byte(`{"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefghi",
		"function": {"name": "f", "arguments": {}}}]}`), &call))
	called := []text.Message{say("user", "Call"), call, say("tool", "3"), say("assistant", "It is 3")}
	for _, row := range []struct {
		template string
		messages []text.Message
		want     []string
	}{
		{"llama3", talk, []string{"Hi<|eot_id|>", "Hello, you<|eot_id|>"}},
		{"qwen2.5", talk, []string{"Hi<|im_end|>", "Hello, you<|im_end|>"}},
		{"qwen3", talk, []string{"Hi<|im_end|>", "<think>\n\n</think>\n\nHello, you<|im_end|>"}},
		{"smollm2", talk, []string{"Hi<|im_end|>", "Hello, you<|im_end|>"}},
		{"smollm3", talk, []string{"Hi<|im_end|>", "Hello, you<|im_end|>"}},
		{"gemma3", talk, []string{"Hi<end_of_turn>", "Hello, you<end_of_turn>"}},
		{"mistral", talk, []string{"Hi</s>", "Hello, you</s>"}},
		{"qwen3", thoughts, []string{"4<|im_end|>", "<think>\nmore\n</think>\n\n6<|im_end|>"}},
		{"smollm3", thoughts, []string{"<think>\nadd\n</think>\n\n4<|im_end|>", "<think>\nmore\n</think>\n\n6<|im_end|>"}},
		{"qwen2.5", called, []string{"<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>",
			"It is 3<|im_end|>"}},
		{"llama3", called, []string{`{"name": "f", "parameters": {}}<|eot_id|>`, "It is 3<|eot_id|>"}},
		{"llama3", talk[:2], nil},
	} {
		template := templateOf(t, row.template+".jinja")
		config := text.TemplateConfig{Now: moment}
		got, spans, err := template.RenderSpans(t.Context(), row.messages, config)
		require.NoError(t, err, row.template)
		want, err := template.Render(t.Context(), row.messages, config)
		require.NoError(t, err)
		require.Equal(t, want, got)
		var parts []string
		for _, s := range spans {
			require.Equal(t, "assistant", row.messages[s.Message].Role)
			parts = append(parts, got[s.From:s.To])
		}
		require.Equal(t, row.want, parts, row.template)
	}
}

func TestTemplateErrors(t *testing.T) {
	_, err := text.ParseTemplate("{% include 'x' %}")
	require.EqualError(t, err, "text: template: line 1: got the block include, want one of "+
		"break, continue, for, generation, if, macro, set")
	for _, row := range []struct{ name, source, want string }{
		{"it raises", "\n{{ raise_exception('no') }}", "text: template: line 2: the template refuses: no"},
		{"it loops", "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
			"text: template: line 1: got a rendering of more than 80000000 steps, want fewer"},
		{"no place", "{{ messages|length }}{{ messages[-1].content|length }}", "text: template: got no generation " +
			"blocks, and no loop over the messages that writes message 2, want one"},
	} {
		template, err := text.ParseTemplate(row.source)
		require.NoError(t, err)
		_, _, err = template.RenderSpans(t.Context(), []text.Message{say("user", "a"), say("assistant", "b")},
			text.TemplateConfig{})
		require.EqualError(t, err, row.want, row.name)
	}
}

// TestContentOfParts: a template that does not accept parts gets one text.
func TestContentOfParts(t *testing.T) {
	got, err := templateOf(t, "qwen2.5.jinja").Render(t.Context(), []text.Message{say("system", "S"),
		{Role: "user", Parts: []string{"a", "b"}}}, text.TemplateConfig{})
	require.NoError(t, err)
	require.Equal(t, "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nab<|im_end|>\n", got)
}

// The template and the tokens of a folder. TemplateSource also returns a template that cannot be rendered here.
func TestTemplateConfig(t *testing.T) {
	for _, row := range []struct{ name, config, source, text, failure string }{
		{name: "a text", config: `{"chat_template": "{{ bos_token }}a{{ eos_token }}", "bos_token": "<s>",
			"eos_token": {"content": "</s>", "lstrip": false}}`, text: "<s>a</s>"},
		{name: "no tokens", config: `{"chat_template": "{{ bos_token }}a{{ eos_token }}", "bos_token": null}`, text: "a"},
		{name: "several", config: `{"chat_template": [{"name": "tool_use", "template": "b"}, {"name": "default",
			"template": "a"}]}`, text: "a"},
		{name: "a file beside it", config: `{"chat_template": "b", "bos_token": "<s>"}`, source: "{{ bos_token }}a\n",
			text: "<s>a"},
		{name: "none", config: `{}`, failure: "text: tokenizer_config.json: chat_template: got none, want the template of " +
			"a model that talks"},
		{name: "no default", config: `{"chat_template": [{"name": "rag", "template": "b"}]}`,
			failure: "text: tokenizer_config.json: chat_template: got no template with the name default, want one"},
		{name: "no JSON", config: `{`, failure: "text: tokenizer_config.json: unexpected end of JSON input"},
		{name: "no template", config: `{"chat_template": "{% x %}"}`, failure: "text: template: line 1: got the block x, " +
			"want one of break, continue, for, generation, if, macro, set"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer_config.json"), []byte(row.config), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte(row.source), 0o644))
		template, err := text.OpenTemplate(dir, "", nil)
		if row.failure != "" {
			require.EqualError(t, err, dir+": "+row.failure, row.name)
			continue
		}
		require.NoError(t, err, row.name)
		got, err := template.Render(t.Context(), nil, text.TemplateConfig{})
		require.NoError(t, err, row.name)
		require.Equal(t, row.text, got, row.name)
	}
}

// TestOpenTemplate: chat_template.jinja takes precedence, and either file may be missing.
func TestOpenTemplate(t *testing.T) {
	dir := t.TempDir()
	render := func(want string) {
		template, err := text.OpenTemplate(dir, "", nil)
		require.NoError(t, err)
		got, err := template.Render(t.Context(), nil, text.TemplateConfig{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	_, err := text.OpenTemplate(dir, "", nil)
	require.ErrorIs(t, err, text.ErrNoTemplate)
	write("tokenizer_config.json", `{"chat_template": "{{ bos_token }}a", "bos_token": "<s>"}`)
	render("<s>a")
	write("chat_template.jinja", "{{ bos_token }}b\n")
	render("<s>b")
	require.NoError(t, os.Remove(filepath.Join(dir, "tokenizer_config.json")))
	render("b")
	write("chat_template.jinja", "{% x %}")
	_, err = text.OpenTemplate(dir, "", nil)
	require.ErrorContains(t, err, dir+": text: template: line 1: got the block x, want one of ")
	source, err := text.TemplateSource(dir)
	require.NoError(t, err)
	require.Equal(t, "{% x %}", source, "for programs that can render it")
}
