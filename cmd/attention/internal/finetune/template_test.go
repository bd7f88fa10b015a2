package finetune

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// A conversation has the same text in a run, in the folder to which it is exported, and by the template in that folder:
// with the token that begins a text if the tokenizer adds one, and with the one that ends an answer.
func TestExportedTalksAreTheRuns(t *testing.T) {
	talk := []text.Message{{Role: "user", Content: "cat"}, {Role: "assistant", Content: "mat"}}
	mine := filepath.Join(t.TempDir(), "mine.jinja")
	const source = `{{ bos_token }}` +
		`{% for m in messages %}{{ m.content }}{{ eos_token if m.role == 'assistant' }}{% endfor %}`
	require.NoError(t, os.WriteFile(mine, []byte(source), 0o644))
	for name, row := range map[string]struct {
		begins         bool
		config         string // of the tokenizer; "" for none
		template, want string
	}{
		"a token before texts": {begins: true, template: text.Alpaca, want: "<|endoftext|>Below"},
		"with a name": {true, `{"bos_token": "<|endoftext|>", "eos_token": "!"}`, text.Alpaca,
			"<|endoftext|>Below"},
		"none": {template: text.Alpaca, want: "Below"},
		"none, but a name for it": {false, `{"bos_token": "<|endoftext|>", "eos_token": "!"}`, text.Alpaca,
			"Below"},
		"a file, and a token": {begins: true, template: mine, want: "<|endoftext|>catmat"},
		"a file, and none":    {template: mine, want: "catmat"},
		"a file, none, but a name for it": {false, `{"bos_token": "<|endoftext|>", "eos_token": "!"}`, mine,
			"<|endoftext|>catmat"},
	} {
		t.Run(name, func(t *testing.T) {
			_, flags := files(t, "--steps", "1", "--sample", "0", "--train-on-prompts")
			base, out := flags[1], filepath.Join(t.TempDir(), "run")
			if !row.begins {
				file, err := os.ReadFile(filepath.Join(base, settings.TokenizerFile))
				require.NoError(t, err)
				at := bytes.Index(file, []byte(`"post_processor":{`))
				end := at + bytes.Index(file[at:], []byte(`]}}}`)) + len(`]}}}`)
				file = append(append(file[:at:at], `"post_processor": null`...), file[end:]...)
				require.NoError(t, os.WriteFile(filepath.Join(base, settings.TokenizerFile), file, 0o644))
			}
			if row.config != "" {
				require.NoError(t, os.WriteFile(filepath.Join(base, "tokenizer_config.json"), []byte(row.config),
					0o644))
			}
			_, err := tune(t, append(flags, "--template", row.template, "--out", out)...)
			require.NoError(t, err)
			in, err := models.Inspect(out)
			require.NoError(t, err)
			m, err := in.Open()
			require.NoError(t, err)
			want, err := m.Template.Render(t.Context(), talk, text.TemplateConfig{})
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(want, row.want), want)
			g, err := in.Exported()
			require.NoError(t, err)
			dir := filepath.Join(t.TempDir(), "whole")
			_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
			require.NoError(t, err)
			exported, err := text.OpenTemplate(dir, "", nil)
			require.NoError(t, err)
			got, err := exported.Render(t.Context(), talk, text.TemplateConfig{})
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

// TestTalksAsTrained: a conversation with a run has the form of its training examples, with the date and the same mode
// of thinking: off, unless the examples have thoughts.
func TestTalksAsTrained(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "mine.jinja")
	require.NoError(t, os.WriteFile(mine, []byte(`{{ strftime_now('%d %B %Y') }} `+
		`{{ 'no' if enable_thinking is defined and not enable_thinking else 'yes' }}`+
		`{% for m in messages %}{% if m.role == 'assistant' %}:{% endif %}{{ m.content }}{% endfor %}`+
		`{% if add_generation_prompt %}:{% endif %}`), 0o644))
	for name, row := range map[string]struct{ example, want string }{
		"answers": {`{"messages": [{"role": "user", "content": "cat"}, {"role": "assistant", "content": "mat"}]}`, "no"},
		"thoughts": {`{"messages": [{"role": "user", "content": "cat"}, {"role": "assistant", "content": "mat", ` +
			`"thinking": "a"}]}`, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, flags := files(t, "--steps", "1")
			dir := t.TempDir()
			data, out := filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "run")
			require.NoError(t, os.WriteFile(data, []byte(row.example), 0o644))
			flags = append(flags, "--template", mine, "--data", data, "--valid", data, "--train-on-prompts")
			today := time.Now().Format("02 January 2006")
			shown, err := tune(t, append(flags, "--show", "1")...)
			require.NoError(t, err)
			var learned strings.Builder
			for _, m := range regexp.MustCompile(`(?m)^ *\d+  (?:learned| +)  "(.*)"$`).FindAllStringSubmatch(shown, -1) {
				learned.WriteString(m[1])
			}
			want := today + " " + row.want + "cat:"
			require.True(t, strings.HasPrefix(learned.String(), want+"mat"), shown)
			_, err = tune(t, append(flags, "--out", out)...)
			require.NoError(t, err)
			in, err := models.Inspect(out)
			require.NoError(t, err)
			m, err := in.Open()
			require.NoError(t, err)
			said := []text.Message{{Role: "user", Content: "cat"}}
			ids, err := models.Asked(t.Context(), m.Template, m.Tokenizer, said, m.Rendering())
			require.NoError(t, err)
			asked, err := m.Tokenizer.Decode(ids)
			require.NoError(t, err)
			require.Equal(t, want, asked)
		})
	}
}

// Without a template, prompts and completions are one text each, as in TRL, and generate continues it; if there is a
// conversation among the examples, the Alpaca prompt is used. A resumed run learns the same.
func TestPairsWithoutTemplate(t *testing.T) {
	base, flags := files(t, "--steps", "2", "--sample", "3")
	data, out := filepath.Join(t.TempDir(), "x.jsonl"), filepath.Join(t.TempDir(), "run")
	const pair = `{"prompt": "the cat", "completion": " sat"}` + "\n"
	require.NoError(t, os.WriteFile(data, []byte(pair), 0o644))
	shown := []string{"--model", base, "--data", data, "--show", "1"}
	said, err := tune(t, shown...)
	require.NoError(t, err)
	require.Equal(t, strings.Fields(`example 1: 7 tokens 264 "<|endoftext|>" 258 "the" 220 " " 260 "cat" 220 learned " " 263 `+
		`learned "sat" 264 learned "<|endoftext|>"`), strings.Fields(said))
	flags = append([]string{"--model", base, "--data", data}, flags[6:]...)
	said, err = tune(t, append(flags, "--out", out)...)
	require.NoError(t, err)
	require.Contains(t, said, "question  the cat\n")
	require.Contains(t, said, "wanted    sat\n")
	require.Contains(t, said, "To continue a text")
	in, err := models.Inspect(out)
	require.NoError(t, err)
	require.Empty(t, in.Config.Tuning.Template)
	_, err = tune(t, "--resume", out, "--steps", "3")
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(data, []byte(pair+`{"instruction": "a", "output": "b"}`), 0o644))
	_, err = tune(t, shown...)
	require.ErrorContains(t, err, "the template takes 131 tokens beside a question")
}
