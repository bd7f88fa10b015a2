package train

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// settled are the options of a command line.
func settled(t *testing.T, args ...string) options {
	var o options
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.addFlags(f)
	require.NoError(t, f.Parse(args))
	require.NoError(t, o.collect(f))
	require.NoError(t, o.settle(f.Changed))
	return o
}

// TestSettingsPrecedence: a flag goes before the config file, that before the preset.
func TestSettingsPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o644)) }
	write(`{"model": {"n_layer": 3, "n_head": 2, "attn_pdrop": 0.25, "bias": true, "n_inner": null}, "training": {"steps": 7, "schedule": {"cosine": {"peak": 0.5}}}}`)
	o := settled(t, "--preset", "nano-char", "--config", file, "--heads", "1", "--steps", "9")
	require.Equal(t, []int{3, 1, 128, 9, 250, 12}, []int{o.layers, o.heads, o.width, o.steps, o.evalEvery, o.batch})
	require.Equal(t, []float64{0.5, 0.99, 0, 0.25, 0}, []float64{o.rate, o.beta2, o.embeddingDropout, o.attentionDropout, o.residualDropout})
	require.True(t, o.bias)
	require.Equal(t, "gelu", o.activation)

	o = settled(t, "--config", file, "--dropout", "0.125", "--residual-dropout", "0.5")
	require.Equal(t, run.GPTModel, o.model, "the config's fields are a gpt's")
	require.Equal(t, []float64{0.125, 0.125, 0.5}, []float64{o.embeddingDropout, o.attentionDropout, o.residualDropout})
	require.Equal(t, "gelu_new", o.activation)

	write(`{"model": {"width": 8, "attention": {"layer": "causal", "dropout": 0.5}}, "text": {"name": "built-in"}, "dtype": "float64"}`)
	o = settled(t, "--config", file)
	require.Equal(t, []any{run.LayerModel, 8, "causal", 0.5, "", "float64"}, []any{o.model, o.width, o.layer, o.dropout, o.text, o.dtype})
}

// TestSettingsOfARun: its config.json makes the same run again, whatever its flags were.
func TestSettingsOfARun(t *testing.T) {
	for _, flags := range []string{
		"--model gpt --layers 1 --kv-heads 1 --hidden 5 --activation relu --norm-eps 0.01 --bias=false --tie=false --vocab 40 --dropout 0.1 --attention-dropout 0.2 " +
			"--tokenizer bytes --vocab 300 --eval-batches 2 --order sequential",
		"--model gpt --tokenizer characters --accumulate 2 --seed 5 --lr 0.01 --min-lr 0.002 --warmup 3 --decay-steps 10 --clip 0.5 --keep 1 --save-every 5",
		"--layer additive --solver sgd --momentum 0.5 --dtype float64 --weight-decay 0.1",
		"--layer multi_head_wrapper --qkv-bias --dropout 0.1 --beta1 0.8 --eps 1e-5",
	} {
		folder, _ := tinyRun(t, strings.Fields(flags)...)
		again := filepath.Join(t.TempDir(), "again")
		require.NoError(t, trainTo(t.Context(), io.Discard, "--config", filepath.Join(folder, run.ConfigFile), "--out", again))
		requireSameOutcome(t, folder, again)
	}
}

// TestSettingsCover: every value in config.json is a flag's, follows from flags or was
// counted, and no other path is known.
func TestSettingsCover(t *testing.T) {
	known := map[string]bool{}
	for path := range settingFlags() {
		known[path] = true
	}
	for _, path := range append(followsPaths, countedPaths...) {
		known[path] = true
	}
	seen := map[string]bool{}
	for _, rate := range []string{"peak", "floor", "warmup_steps", "steps"} {
		seen["training.schedule.cosine."+rate] = true // as earlier programs wrote it
	}
	for _, flags := range []string{
		"--model gpt --kv-heads 1 --hidden 5 --weight-decay 0.1 --prompt the", "--layer multi_head --qkv-bias --dropout 0.1", "--layer additive --solver sgd --momentum 0.1",
	} {
		folder, _ := tinyRun(t, strings.Fields(flags)...)
		c, err := run.ReadConfig(folder)
		require.NoError(t, err)
		c.Init = &run.TextSource{} // of any run
		text, err := json.Marshal(c)
		require.NoError(t, err)
		leaves, err := run.Leaves(text)
		require.NoError(t, err)
		for path := range leaves {
			require.True(t, known[path], path)
			seen[path] = true
		}
	}
	require.Equal(t, known, seen)
}

func TestSettingsWrong(t *testing.T) {
	requireRefused(t, map[string]string{
		"--preset=":                                  "--preset: got nothing, want one of gpt2, nano-char, tiny",
		"--preset nano":                              `--preset: got "nano", want one of gpt2, nano-char, tiny`,
		"--config=":                                  "--config: got nothing, want the name of a file",
		"--config nothere":                           "--config: nothere: no such file or directory, want a file like a run's config.json",
		"--config full":                              "--config: full: is a directory, want a file like a run's config.json",
		"--config short":                             "--config: short: not JSON: invalid character 'a' looking for beginning of value, want one JSON object",
		"--config empty":                             "--config: empty: not JSON: unexpected end of JSON input, want one JSON object",
		"--model llama":                              `--model: got "llama", want layer or gpt`,
		"--tokenizer bpe":                            `--tokenizer: got "bpe", want one of characters, bytes, gpt2`,
		"--layers 2":                                 "--layers: got it with --model layer, want it with --model gpt only",
		"--tie=false":                                "--tie: got it with --model layer, want it with --model gpt only",
		"--vocab 3":                                  "--vocab: got 3, want at least the 66 characters of the tokenizer",
		"--eval-batches -1":                          "--eval-batches: got -1, want at least 0",
		"--model gpt --layer causal":                 "--layer: got it with --model gpt, want it with --model layer only",
		"--model gpt --qkv-bias":                     "--qkv-bias: got it with --model gpt, want it with --model layer only",
		"--preset nano-char --model layer":           "--layers: got it with --model layer, want it with --model gpt only",
		"--model gpt --layers 0":                     "--layers: got 0, want at least 1",
		"--model gpt --heads 3":                      "--heads: got 3, want a divisor of --width 64",
		"--model gpt --kv-heads 3":                   "--kv-heads: got 3, want a divisor of --heads 4",
		"--model gpt --hidden -1":                    "--hidden: got -1, want at least 0",
		"--model gpt --activation tanh":              `--activation: got "tanh", want one of gelu, gelu_new, gelu_pytorch_tanh, relu, silu`,
		"--model gpt --norm-eps 0":                   "--norm-eps: got 0, want a finite number above 0",
		"--model gpt --residual-dropout 1":           "--residual-dropout: got 1, want a number from 0 to below 1",
		"--model gpt --bias=2":                       `--bias: got "2", want true or false`,
		"--model gpt --layers 1000000000":            "--layers, --width: got 4.92e+13 weights of all layers, want at most 4294967296",
		"--model gpt --batch 9223372036854775807":    "--batch, --context, --width: got 1.51e+23 elements of a batch's vectors, want at most 4294967296",
		"--model gpt --tokenizer gpt2 --batch 10000": "--batch, --context: got 3.22e+10 scores of next tokens, want at most 4294967296",
	})
	file := filepath.Join(t.TempDir(), "c.json")
	for text, want := range map[string]string{
		`{"model": {"n_layers": 3}}`:                            "unknown field model.n_layers",
		`{"training": {"stepz": 3}}`:                            "unknown field training.stepz",
		`{"training": 3}`:                                       "unknown field training",
		`{"stepz": 3, "n_layer": 3}`:                            "unknown field n_layer",
		`{"training": {"schedule": {"constant": {"rate": 1}}}}`: "unknown field training.schedule.constant.rate",
		`{"training": {"steps": "3"}}`:                          `training.steps: got "3", want a whole number`,
		`{"training": {"steps": 1.5}}`:                          `training.steps: got "1.5", want a whole number`,
		`{"training": {"steps": [3]}}`:                          `training.steps: got "[3]", want a whole number`,
		`{"training": {"clip_norm": true}}`:                     `training.clip_norm: got "true", want a number`,
		`{"model": {"bias": 1}}`:                                `model.bias: got "1", want true or false`,
		`{"dtype": 32}`:                                         `dtype: got "32", want a text`,
		`{"model": {"width": 3, "n_embd": 4}}`:                  `model.width: got 3, but 4 by another name`,
		`{"training": {"solver": {"decay": "all"}}}`:            "training.solver.decay: got all, want matrices, which follows from the other values",
		`{"model": {"width": 8, "attention": {"d_in": 9}}}`:     "model.attention.d_in: got 9, want 8, which follows from the other values",
		`{"training": {"steps": 3, "steps": 4}}`:                `training: field "steps" comes twice`,
		`{} {}`:                                                 "not JSON: invalid character '{' after top-level value, want one JSON object",
		`[]`:                                                    "got [], want a JSON object",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		err := trainTo(t.Context(), new(bytes.Buffer), "--config", file, "--out", filepath.Join(t.TempDir(), "run"))
		require.EqualError(t, err, "--config: "+file+": "+want, text)
	}
}

// TestSettingsNameAnotherFile: the text of a config has to be what it was.
func TestSettingsNameAnotherFile(t *testing.T) {
	folder, _ := tinyRun(t, "--tokenizer", "characters")
	c, err := run.ReadConfig(folder)
	require.NoError(t, err)
	config := filepath.Join(folder, run.ConfigFile)
	require.NoError(t, os.WriteFile(c.Text.Name, []byte(tinyText[1:]), 0o644))
	err = trainTo(t.Context(), new(bytes.Buffer), "--config", config)
	require.ErrorContains(t, err, "--text: "+c.Text.Name+": got a text with SHA-256 ")
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte(tinyText[10:]), 0o644))
	again := filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), "--config", config, "--text", other, "--out", again))
	d, err := run.ReadConfig(again)
	require.NoError(t, err)
	require.Equal(t, c.Vocabulary, d.Vocabulary)
	require.NoError(t, os.WriteFile(other, []byte(strings.Repeat("é", 100)), 0o644))
	err = trainTo(t.Context(), new(bytes.Buffer), "--config", config, "--text", other)
	require.EqualError(t, err, "--text: "+other+": text: got 'é' at position 0, want one of the vocabulary's 28 characters")
}
