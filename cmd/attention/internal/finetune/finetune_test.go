package finetune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/checkpoint"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// shortTemplate is a template whose texts fit the rows of a tiny model.
const shortTemplate = `{% for m in messages %}{{ m['content'] }}` +
	`{{ eos_token if m['role'] == 'assistant' else '?' }}{% endfor %}`

// files writes examples and a template, and returns the flags of a run with them on a tiny model.
func files(t *testing.T, more ...string) (base string, flags []string) {
	dir, lines := t.TempDir(), strings.Builder{}
	for i := range 12 {
		fmt.Fprintf(&lines, `{"prompt": "cat %d", "completion": "mat %d"}`+"\n", i, i%3)
	}
	for name, content := range map[string]string{"train.jsonl": lines.String(), "short.jinja": shortTemplate,
		"valid.jsonl": `{"messages": [{"role": "user", "content": "cat 20"}, ` +
			`{"role": "assistant", "content": "mat 2"}]}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	base = commandtest.SmallLlama(t)
	return base, append([]string{"--model", base, "--data", dir, "--template", filepath.Join(dir, "short.jinja"),
		"--context", "24", "--batch", "2", "--lora", "2", "--lr", "0.01", "--warmup", "0", "--sample", "4"}, more...)
}

// tune runs attention finetune.
func tune(t *testing.T, args ...string) (string, error) {
	var out bytes.Buffer
	err := commandtest.Run(t.Context(), &out, &out, New(), args...)
	return out.String(), err
}

// A run learns, its folder holds adapters but not the base, and it resumes with the same bits.
func TestFinetune(t *testing.T) {
	_, flags := files(t, "--steps", "20", "--eval-every", "10", "--save-every", "5", "--keep", "9")
	whole, stopped := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "stopped")
	out, err := tune(t, append(flags, "--out", whole)...)
	require.NoError(t, err, out)
	require.NoError(t, os.CopyFS(stopped, os.DirFS(whole)))
	_, err = tune(t, "--resume", filepath.Join(stopped, "checkpoints", "step-00000010.safetensors"))
	require.NoError(t, err)
	for _, name := range []string{settings.ModelFile, settings.ConfigFile, "checkpoints/step-00000020.safetensors"} {
		want, err := os.ReadFile(filepath.Join(whole, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(stopped, name))
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	saved, _, err := checkpoint.ReadTensors(filepath.Join(whole, settings.ModelFile))
	require.NoError(t, err)
	require.Len(t, saved, 2*2*7, "two adapters of seven maps in each of two blocks")
	for name := range maps.Keys(saved) {
		require.Contains(t, name, "lora_")
	}
}

// With --best the answers and the folder are those of the lowest validation loss, and --patience ends a run.
func TestBestAndPatience(t *testing.T) {
	_, flags := files(t, "--steps", "40", "--eval-every", "2", "--best", "--patience", "2", "--lr", "0.5")
	out := filepath.Join(t.TempDir(), "run")
	said, err := tune(t, append(flags, "--out", out)...)
	require.NoError(t, err)
	require.Regexp(t, `The model is that of step \d+, which has the lowest validation loss\.`, said)
	require.Regexp(t, `The run ended after \d+ of 40 steps:\s+the last 2 validations were not lower\.`, said)
	in, err := models.Inspect(out)
	require.NoError(t, err)
	require.False(t, in.Unfinished())
	_, err = in.Open()
	require.NoError(t, err)
}

// --show prints a line for each token and marks the learned ones: the answer with the token that ends it.
func TestShow(t *testing.T) {
	_, flags := files(t)
	out, err := tune(t, append(flags, "--show", "1")...)
	require.NoError(t, err)
	learned := ""
	for line := range strings.Lines(out) {
		if strings.Contains(line, "  learned  ") {
			learned += strings.Trim(strings.TrimSpace(line[17:]), `"`)
		}
	}
	require.Contains(t, out, "example 1: ")
	require.Equal(t, "mat 0<|endoftext|>", learned, out)
	out, err = tune(t, append(flags, "--show", "1", "--train-on-prompts")...)
	require.NoError(t, err)
	require.Equal(t, strings.Count(out, "\n")-2, strings.Count(out, "  learned  "), "all but the first: %s", out)
	_, err = os.Stat("runs")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The template alpaca has the book's prompt, and each answer ends once.
func TestAlpaca(t *testing.T) {
	of, err := text.OpenTemplate(t.TempDir(), text.Alpaca, nil)
	require.NoError(t, err)
	of.EOS = "<|endoftext|>"
	var e text.Example
	require.NoError(t, json.Unmarshal([]byte(`{"instruction": "Evaluate the phrase.", "input": "freind --> friend",`+
		`"output": "It is right."}`), &e))
	const prompt = "Below is an instruction that describes a task. " +
		"Write a response that appropriately completes the request." +
		"\n\n### Instruction:\nEvaluate the phrase.\n\n### Input:\nfreind --> friend\n\n### Response:\n"
	got, err := of.Render(t.Context(), e.Messages[:1], text.TemplateConfig{AddGenerationPrompt: true})
	require.NoError(t, err)
	require.Equal(t, prompt, got)
	got, spans, err := of.RenderSpans(t.Context(), append(e.Messages, e.Messages...), text.TemplateConfig{})
	require.NoError(t, err)
	require.Equal(t, prompt+"It is right.<|endoftext|>\n\n### Instruction:\nEvaluate the phrase.\n\n### Input:\n"+
		"freind --> friend\n\n### Response:\nIt is right.<|endoftext|>", got)
	require.Len(t, spans, 2)
	for _, s := range spans {
		require.Equal(t, "It is right.<|endoftext|>", strings.TrimSpace(got[s.From:s.To]))
	}
}

// The error about wrong flags and files is one line each, and no folder is left.
func TestFinetuneErrors(t *testing.T) {
	base, flags := files(t, "--steps", "1", "--out", filepath.Join(t.TempDir(), "run"))
	flags = slices.Clip(flags)
	dir, bad := t.TempDir(), func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	for _, row := range []struct {
		want string
		args []string
	}{
		{"--model: missing, want the folder of the model", []string{"--data", dir}},
		{"--data: missing, want a file of examples", []string{"--model", base}},
		{"--base: got it without --resume", []string{"--model", base, "--data", dir, "--base", base}},
		{"--seed: got it beside --resume, want only --data, --valid, --base", []string{"--resume", dir, "--seed", "2"}},
		{"--model: got nothing, want the folder", append(flags, "--model", "")},
		{"--lora: got 0 with flags of adapters", append(flags, "--lora", "0", "--targets", "q_proj")},
		{"--lora: got -1", append(flags, "--lora", "-1")},
		{"got no train.jsonl", append(flags, "--data", dir)},
		{"line 2: images: got it beside prompt, want none", append(flags, "--data", bad("x.jsonl",
			`{"prompt": "a", "completion": "b"}`+"\n"+`{"prompt": "a", "completion": "b", "images": ["c"]}`))},
		{"line 1: ", append(flags, "--data", bad("x.jsonl", "{"))},
		{"line 1: text: template: line 10: the template refuses: got the role narrator", append(flags, "--template",
			"alpaca", "--data", bad("x.jsonl",
				`{"messages": [{"role": "narrator", "content": "a"}, {"role": "assistant", "content": "b"}]}`))},
		{"--data: text: packing: got 12 of 12 examples without a token to learn in their first 24 tokens: the template takes " +
			"131 tokens beside a question", append(flags, "--template", "alpaca")},
		{"--task: got \"x\", want one of answer, classify, embed, mask", append(flags, "--task", "x")},
		{"line 1: got an example without a label", append(flags[:4:4], "--task", "classify")},
		{"got the token <|im_start|>, which the tokenizer does not have", append(flags, "--template", "chatml")},
		{`--template: got "none", want chatml, alpaca or a file`, append(flags, "--template", "none")},
		{"no tools here", append(flags, "--template", bad("t", `{{ raise_exception('no tools here') }}`))},
		{"--context: got 33, want at most the 32 of the model", append(flags, "--context", "33")},
		{"--context: got 1, want at least 2", append(flags, "--context", "1")},
		{"--long: got \"x\", want one of cut, skip", append(flags, "--long", "x")},
		{"got no example of at most 4 tokens", append(flags, "--context", "4", "--long", "skip")},
		{"LoRA: Targets: got \"z_proj\"", append(flags, "--targets", "z_proj")},
		{"LoRA: Targets: got \"lm_head\", which is tied to model.embed_tokens.weight in this model, want the name of that",
			append(flags, "--targets", "lm_head")},
		{"--batch: got 0, want at least 1", append(flags, "--batch", "0")},
		{"--lr: got -1", append(flags, "--lr", "-1")},
	} {
		_, err := tune(t, row.args...)
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n", row.want)
	}
	_, err := os.Stat(flags[len(flags)-1])
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The whole model is trained with --lora 0, and parts of it beside adapters.
func TestWhatIsTrained(t *testing.T) {
	for want, more := range map[string][]string{
		"5508 parameters, 0 are frozen":    {"--lora", "0"},
		"680 parameters, 5496 are frozen":  {"--whole", "model.norm"},
		"96 parameters, 5508 are frozen":   {"--targets", "q_proj"},
		"600 parameters, 5508 are frozen":  {"--targets", "embed_tokens"}, // 2·(288 + 12)
		"4124 parameters, 2052 are frozen": {"--whole", "embed_tokens"},
	} {
		_, flags := files(t, "--steps", "2", "--sample", "0", "--out", filepath.Join(t.TempDir(), "run"))
		out, err := tune(t, append(flags, more...)...)
		require.NoError(t, err)
		require.Contains(t, out, want)
	}
}

// Ignored keys are printed before training, with the number of their examples, the most frequent first.
func TestUnreadKeys(t *testing.T) {
	_, flags := files(t, "--steps", "1", "--sample", "0")
	path, lines := filepath.Join(t.TempDir(), "x.jsonl"), strings.Builder{}
	for i := range 12 {
		fmt.Fprintf(&lines, `{"prompt": "cat", "completion": "mat", "z": 1, "key%02d": 1}`+"\n", i)
	}
	require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o644))
	out, err := tune(t, append(flags, "--data", path, "--out", filepath.Join(t.TempDir(), "run"))...)
	require.NoError(t, err)
	require.Regexp(t, `not read "z" in 12 examples, "key00" in 1 example, [^.]*"key08" in 1 example, and 3 more training`,
		strings.Join(strings.Fields(out), " "))
}

// Classes that are integers keep their numerical order, as in transformers' id2label.
func TestNumberedClasses(t *testing.T) {
	lines := strings.Builder{}
	for i := range 12 {
		fmt.Fprintf(&lines, `{"text": "cat", "label": %d}`+"\n", i)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o644))
	classes, err := classesOf(path, settings.ClassifyTask)
	require.NoError(t, err)
	require.Equal(t, strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11"), classes)
}
