package finetune

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// A talk is the same text to a run, to the folder that it is exported to, and to the template in that folder, with the
// token that begins a text where the tokenizer puts one, and with the one that ends an answer.
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
				file, err := os.ReadFile(filepath.Join(base, run.TokenizerFile))
				require.NoError(t, err)
				at := bytes.Index(file, []byte(`"post_processor":{`))
				end := at + bytes.Index(file[at:], []byte(`]}}}`)) + len(`]}}}`)
				file = append(append(file[:at:at], `"post_processor": null`...), file[end:]...)
				require.NoError(t, os.WriteFile(filepath.Join(base, run.TokenizerFile), file, 0o644))
			}
			if row.config != "" {
				require.NoError(t, os.WriteFile(filepath.Join(base, "tokenizer_config.json"), []byte(row.config),
					0o644))
			}
			_, err := tune(t, append(flags, "--template", row.template, "--out", out)...)
			require.NoError(t, err)
			in, err := run.Inspect(out)
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
			exported, err := text.OpenTemplate(dir)
			require.NoError(t, err)
			got, err := exported.Render(t.Context(), talk, text.TemplateConfig{})
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}
