package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// A line of a file gets the classes of the same text without its newline.
func TestClassesOfLines(t *testing.T) {
	base := commandtest.SmallLlama(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cats.tsv", []byte("cat\tthe cat sat\nmat\tthe mat sat\n"), 0o644))
	require.NoError(t, os.WriteFile("texts", []byte("the cat sat\r\n\nthe mat\n"), 0o644))
	_, _, err := attention(t, "finetune", "--task", "classify", "--model", base, "--data", "cats.tsv", "--steps", "2",
		"--context", "24", "--lr", "0.01", "--out", "tuned")
	require.NoError(t, err)
	want, notes, err := attention(t, "classify", "--model", "tuned", "--text", "the cat sat", "--text", "the mat")
	require.NoError(t, err)
	require.Empty(t, notes)
	_, notes, err = attention(t, "classify", "--model", "tuned", "--text", "the cat", "--text", strings.Repeat("123", 20))
	require.NoError(t, err)
	require.Equal(t, "attention: the model's window is 32 tokens: the ends of 1 of 2 texts are not read; the longest has 62\n",
		notes) // each digit is a token, between a token that begins a text and one that ends it
	got, _, err := attention(t, "classify", "--model", "tuned", "--text-file", "texts")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A tuned model continues a text as its export does; its base may move but not change; its adapter can be exported
// alone.
func TestTunedModels(t *testing.T) {
	base := commandtest.SmallLlama(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cats.jsonl", []byte(`{"text": "the cat sat on the mat. the cat."}`+"\n"+
		`{"text": "the mat sat"}`), 0o644))
	said, _, err := attention(t, "finetune", "--model", base, "--data", "cats.jsonl", "--valid", "cats.jsonl", "--context", "24",
		"--template", "alpaca", "--steps", "6", "--lr", "0.2", "--out", "tuned")
	require.NoError(t, err)
	require.Contains(t, said, "2 examples,")
	generate := func(model string, more ...string) string {
		out, _, err := attention(t, append([]string{"generate", "--model", model, "--prompt", "the cat", "--tokens", "9",
			"--temperature", "0"}, more...)...)
		require.NoError(t, err)
		return out
	}
	want := generate("tuned")
	require.NotEqual(t, want, generate(base))
	_, notes, err := attention(t, "export", "--model", "tuned", "--format", "huggingface", "--dtype", "float32", "--out", "whole")
	require.NoError(t, err)
	require.Empty(t, notes)
	_, notes, err = attention(t, "export", "--model", "tuned", "--format", "huggingface", "--out", "rounded")
	require.NoError(t, err)
	require.Equal(t, "attention: --dtype: what was trained is rounded to bfloat16, the base's type, which changes what the "+
		"model computes; --dtype float32 rounds nothing\n", notes)
	_, notes, err = attention(t, "export", "--model", base, "--format", "huggingface", "--out", "copied")
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, want, generate("whole"))
	said, _, err = attention(t, "export", "--model", "tuned", "--format", "adapter", "--out", "adapter")
	require.NoError(t, err)
	require.Equal(t, "In adapter: adapter_config.json, adapter_model.safetensors, chat_template.jinja\n", said)
	_, _, err = attention(t, "export", "--model", base, "--adapter", "adapter", "--format", "huggingface",
		"--dtype", "float32", "--out", "again")
	require.NoError(t, err)
	for _, name := range []string{"whole", "again"} {
		_, _, err = attention(t, "export", "--model", name, "--format", "gguf", "--out", name+".gguf")
		require.NoError(t, err)
	}
	_, _, err = attention(t, "export", "--model", "tuned", "--format", "gguf", "--out", "tuned.gguf")
	require.NoError(t, err)
	for _, pair := range [][2]string{{"whole/model.safetensors", "again/model.safetensors"}, {"whole.gguf", "again.gguf"},
		{"whole.gguf", "tuned.gguf"}} {
		want, err := os.ReadFile(pair[0])
		require.NoError(t, err)
		got, err := os.ReadFile(pair[1])
		require.NoError(t, err)
		n := min(len(want), len(got)) / 2 // without file names, and without the template that an adapter does not have
		require.Equal(t, want[len(want)-n:], got[len(got)-n:], pair)
	}
	template, err := os.ReadFile("whole/chat_template.jinja")
	require.NoError(t, err)
	require.Contains(t, string(template), "### Instruction:", "which the run has")
	file, err := os.ReadFile("tuned.gguf")
	require.NoError(t, err)
	require.Contains(t, string(file), string(template))
	said, _, err = attention(t, "runs", ".")
	require.NoError(t, err)
	require.Contains(t, said, "finished")
	_, _, err = attention(t, "train", "--resume", "tuned")
	require.ErrorContains(t, err, "got a run of attention finetune, want one of attention train; resume it with: ")
	for _, other := range []string{"finetune --data cats.jsonl --model tuned", "train --steps 1 --init tuned"} {
		_, _, err = attention(t, append(strings.Fields(other), "--out", "other")...)
		require.ErrorContains(t, err, "got a run of attention finetune, want the whole model; write it with: ")
	}

	require.NoError(t, os.Rename(base, "moved"))
	_, _, err = attention(t, "generate", "--model", "tuned", "--prompt", "the cat")
	require.ErrorContains(t, err, "if the base has moved, give its path with --base")
	require.Equal(t, want, generate("tuned", "--base", "moved"))
	weights, err := os.ReadFile("moved/model.safetensors")
	require.NoError(t, err)
	weights[len(weights)-2]++
	require.NoError(t, os.WriteFile(filepath.Join("moved", "model.safetensors"), weights, 0o644))
	_, _, err = attention(t, "generate", "--model", "tuned", "--prompt", "the cat", "--base", "moved")
	require.ErrorContains(t, err, "those that the run began with")
}

// Other uses of a tuned model: the page, llama.cpp's file of its adapter, and the export of classes.
func TestTunedModelsGoOn(t *testing.T) {
	base, other := commandtest.SmallLlama(t), commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cats.jsonl", []byte(`{"text": "the cat", "label": "a"}`+"\n"+
		`{"text": "the mat", "label": "b"}`), 0o644))
	for task, more := range map[string]string{"answer": "", "classify": " --valid cats.jsonl"} {
		_, _, err := attention(t, strings.Fields("finetune --data cats.jsonl --steps 2 --context 24 --model "+base+" --task "+
			task+" --out "+task+more)...)
		require.NoError(t, err)
	}
	for _, row := range []struct{ args, want string }{
		{args: "view --model answer --text cat --export page.html"},
		{args: "view --model answer --run answer --export run.html"},
		{args: "export --model answer --format gguf --adapter-only --out a.gguf"},
		{args: "export --model answer --format adapter --out adapter"},
		{args: "export --model " + base + " --adapter adapter --format gguf --adapter-only --out b.gguf"},
		{args: "export --model classify --format huggingface --out classes"},
		{args: "export --model classify --format adapter --out classes-adapter"},
		{args: "classify --model classify --text cat"},
		{"export --model " + other + " --adapter adapter --format huggingface --out x",
			"--adapter: pretrained: adapter: adapter_model.safetensors: got no adapter of a map of the model, want one such as "},
		{"export --model classify --format gguf --out x.gguf", "parameter score.weight: llama.cpp's form llama has none of this kind"},
		{"export --model classify --format gguf --adapter-only --out x.gguf", "parameter score.weight: got one that is trained whole"},
		{"export --model answer --format huggingface --adapter-only --out x",
			"--adapter-only: got it with --format huggingface, want gguf, or --format adapter"},
		{"export --model " + base + " --format gguf --adapter-only --out x.gguf",
			"--adapter-only: got a model without an adapter, want a run of attention finetune or --adapter"},
		{"generate --model classify --prompt cat", "--model: classify: got a run that has learned classes, want one of a model that writes"},
		{"generate --model " + other + " --prompt cat --base " + base, "--base: got " + base + " with the model of " + other +
			", want none: it is no run of attention finetune"},
		{"chat --model " + other + " --base " + base, "--base: got " + base},
		{"export --model " + other + " --base " + base + " --format torch --out x", "--base: got " + base},
		{"classify --model " + other + " --text cat --base " + base, "--base: got " + base},
	} {
		_, _, err := attention(t, strings.Fields(row.args)...)
		if row.want == "" {
			require.NoError(t, err, row.args)
			continue
		}
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n")
	}
	a, err := os.ReadFile("a.gguf")
	require.NoError(t, err)
	b, err := os.ReadFile("b.gguf")
	require.NoError(t, err)
	require.Equal(t, a, b)
	config, err := os.ReadFile("classes/config.json")
	require.NoError(t, err)
	require.Contains(t, string(config), `"LlamaForSequenceClassification"`)
}
