package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// smallAdapter writes three things to the working directory: a base, a run that tunes it, and the run's adapter in
// PEFT's form: base, tuned and adapter. Its template is Alpaca's.
func smallAdapter(t *testing.T) {
	base := commandtest.SmallLlama(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Rename(base, "base"))
	require.NoError(t, os.WriteFile("cats.jsonl", []byte(`{"text": "the cat sat on the mat. the cat."}`+"\n"+
		`{"text": "the mat sat"}`), 0o644))
	for _, line := range []string{
		"finetune --model base --data cats.jsonl --context 24 --template alpaca --steps 6 --lr 0.2 --out tuned",
		"export --model tuned --format adapter --out adapter",
	} {
		_, _, err := attention(t, strings.Fields(line)...)
		require.NoError(t, err, line)
	}
}

// Every command that accepts a model accepts an adapter: added to its base, as the model itself, and with a base that
// has moved. The results equal those for the run from which the adapter comes.
func TestEveryCommandTakesAdapters(t *testing.T) {
	smallAdapter(t)
	t.Setenv("HOME", t.TempDir())
	result := func(source, command string) string {
		out := filepath.Join(t.TempDir(), "out")
		args := strings.Fields(strings.ReplaceAll(command, "OUT", out) + " " + source)
		said, notes, err := attention(t, args...)
		require.NoError(t, err, args)
		if !strings.Contains(command, "OUT") {
			return said + notes
		}
		if file, err := os.ReadFile(filepath.Join(out, "model.safetensors")); err == nil {
			template, err := os.ReadFile(filepath.Join(out, "chat_template.jinja"))
			require.NoError(t, err)
			return string(file) + string(template)
		}
		if file, err := os.ReadFile(filepath.Join(out, "adapter_model.safetensors")); err == nil {
			return string(file)
		}
		file, err := os.ReadFile(out)
		require.NoError(t, err)
		return pageNumbers(string(file))
	}
	require.NoError(t, os.WriteFile("asked", []byte("the cat"), 0o644))
	commands := []string{
		"generate --prompt-file asked --tokens 9 --temperature 0",
		"view --text-file asked --export OUT",
		"export --format huggingface --out OUT --dtype float32",
		"export --format adapter --out OUT",
		"export --format gguf --adapter-only --out OUT",
	}
	wants := map[string]string{}
	for _, command := range commands {
		wants[command] = result("--model tuned", command)
	}
	wants[commands[1]] = result("--model base --adapter adapter", commands[1]) // the run's page shows its training
	for _, command := range commands[:2] {
		require.False(t, wants[command] == result("--model base", command), command)
	}
	for _, source := range []string{"--model base --adapter adapter", "--model adapter", "--model adapter --base moved"} {
		if strings.Contains(source, "moved") {
			require.NoError(t, os.Rename("base", "moved"))
		}
		for _, command := range commands {
			require.True(t, wants[command] == result(source, command), "%s %s", command, source)
		}
	}
}

// pageNumbers returns a page without the name of its model.
func pageNumbers(page string) string {
	for _, name := range []string{"base + adapter", "adapter", "base"} {
		page = strings.ReplaceAll(page, `"name":"`+name+`"`, `"name":""`)
	}
	return page
}

// The error about an adapter that cannot be opened is one line, which names the flag, the value and the wanted value.
func TestAdaptersThatCannotBeOpened(t *testing.T) {
	smallAdapter(t)
	require.NoError(t, os.CopyFS("dora", os.DirFS("adapter")))
	config, err := os.ReadFile("dora/adapter_config.json")
	require.NoError(t, err)
	changed := strings.Replace(string(config), `"bias"`, `"use_dora": true, "bias"`, 1)
	require.NoError(t, os.WriteFile("dora/adapter_config.json", []byte(changed), 0o644))
	require.NoError(t, os.CopyFS("hub", os.DirFS("adapter")))
	changed = strings.Replace(string(config), `"base_model_name_or_path": "base"`, `"base_model_name_or_path": "a/b"`, 1)
	require.NoError(t, os.WriteFile("hub/adapter_config.json", []byte(changed), 0o644))
	whole := "got an adapter in PEFT's form, want a whole model; to make one of it and its base: "
	for _, command := range []string{"generate --prompt x", "view --export page.html --text x", "chat",
		"export --format huggingface --out out"} {
		for source, want := range map[string]string{
			"--model base --adapter dora": "--adapter: pretrained: dora: adapter_config.json: use_dora: got true, want " +
				"null or false",
			"--model dora": "--model: pretrained: dora: adapter_config.json: use_dora: got true, want null or false",
			"--model base --adapter none": "--adapter: pretrained: none: open none/adapter_config.json: no such file or " +
				"directory, " +
				"want the folder of an adapter, with adapter_config.json and adapter_model.safetensors",
			"--model hub": `--model: hub: got an adapter of the model "a/b", which is no folder here, want the model's ` +
				`folder with --base`,
			"--model hub --adapter adapter": "--adapter: got one beside an adapter as --model, hub, want one adapter",
			"--model tuned --adapter adapter": "--adapter: got an adapter of tuned, a run of attention finetune, which has its " +
				"own, want one of its base, base",
			"--model base --base base": "--base: got base with the model of base, want none: it is no run of attention finetune " +
				"and no adapter",
		} {
			_, _, err := attention(t, strings.Fields(command+" "+source)...)
			require.ErrorContains(t, err, want, "%s %s", command, source)
			require.NotContains(t, err.Error(), "\n")
		}
	}
	for _, line := range []string{"finetune --data cats.jsonl --model adapter", "train --steps 1 --init adapter"} {
		_, _, err := attention(t, append(strings.Fields(line), "--out", "other")...)
		require.ErrorContains(t, err, whole, line)
	}
	_, _, err = attention(t, "view", "--model", "base", "--model", "adapter", "--adapter", "adapter")
	require.ErrorContains(t, err, "--base, --adapter: got one with 2 times --model, want --model once")
}
