package train

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// requireRefused requires that each call fails with one line that names the flag, before
// it prints or makes anything.
func requireRefused(t *testing.T, calls map[string]string) {
	commandtest.InBadFolder(t)
	before := commandtest.Files(t)
	for args, want := range calls {
		var out bytes.Buffer
		err := trainTo(t.Context(), &out, strings.Fields(args)...)
		require.EqualError(t, err, want, args)
		require.Equal(t, want, term.OneLine(err))
		require.Empty(t, out.String(), args)
	}
	require.Equal(t, before, commandtest.Files(t))
}

const (
	wantFinite   = "want a finite number of at least 0"
	wantFraction = "want a number from 0 to below 1"
	seeHelp      = "; see attention train --help"
)

func TestTrainWrongFilesAndFlags(t *testing.T) {
	requireRefused(t, map[string]string{
		"--text nothere":               "--text: nothere: no such file or directory, want a text file",
		"--text full":                  "--text: full: is a directory, want a text file",
		"--text empty":                 "--text: empty: got an empty file, want a text",
		"--text short":                 "--text: short: got 60 characters, want more than 10 times --context 64",
		"--text latin1":                "--text: latin1: got byte 0xe9 at offset 3, want UTF-8",
		"--text cut":                   "--text: cut: got byte 0xe2 at offset 3, want UTF-8",
		"--text=":                      "--text: got nothing, want the file",
		"--out=":                       "--out: got nothing, want the folder",
		"--out full":                   "--out: full: got a folder that is not empty, want a new or empty one",
		"--out empty":                  "--out: mkdir empty: not a directory, want a folder to write to",
		"--out empty/run":              "--out: mkdir empty: not a directory, want a folder to write to",
		"--resume=":                    "--resume: got nothing, want the folder",
		"--resume full":                "--resume: open full/config.json: no such file or directory, want the folder of a run",
		"--init=":                      "--init: got nothing, want the file",
		"--init nothere":               "--init: open nothere: no such file or directory",
		"--init short":                 "--init: train: parameters: safetensors: short: header length: got 7089055458859770465 bytes, want at most 100000000",
		"--prompt=":                    "--prompt: got nothing, want the text",
		"--prompt aé":                  "--prompt: text: got 'é' at position 1, want one of the vocabulary's 66 characters",
		"--layer self_v2 --prompt abc": "--prompt: got 3 characters, want at least --context 8: layer self_v2 continues whole windows only",
		"--text short --context 6":     "--text: short: got 60 characters, want more than 10 times --context 6",
		"novel.txt":                    `train: got "novel.txt", want only flags; a text is named by --text`,
		"--speed 3":                    "train: unknown flag: --speed" + seeHelp,
	})
}

func TestTrainWrongModel(t *testing.T) {
	const layers = "simple, self_v1, self_v2, causal, multi_head_wrapper, multi_head, additive"
	requireRefused(t, map[string]string{
		"--layer gpt":                          `--layer: got "gpt", want one of ` + layers,
		"--layer=":                             "--layer: got nothing, want the variant",
		"--dtype float16":                      `--dtype: got "float16", want one of float32, float64`,
		"--width 0":                            "--width: got 0, want at least 1",
		"--width 1000000000000":                "--width: got 1000000000000, want at most 2147483647",
		"--width wide":                         `--width: got "wide", want a whole number`,
		"--heads 0":                            "--heads: got 0, want at least 1",
		"--heads 5":                            "--heads: got 5, want a divisor of --width=64",
		"--heads 65":                           "--heads: got 65, want a divisor of --width=64",
		"--layer multi_head_wrapper --heads 5": "--heads: got 5, want a divisor of --width=64",
		"--context 0":                          "--context: got 0, want at least 1",
		"--context 4000":                       "--context: got 4000, which makes 1.02e+09 scores of queries and keys, want at most 134217728",
		"--batch 1 --context 3927":             "--context: got 3927, want at most 3926 for the built-in text",
		"--context 9223372036854775807":        "--context: got 9223372036854775807, which makes 5.9e+20 weights of an embedding, want at most 134217728",
		"--batch -1":                           "--batch: got -1, want at least 1",
		"--batch 9223372036854775807":          "--batch: got 9223372036854775807, which makes 3.78e+22 elements of a batch's vectors, want at most 134217728",
		"--batch 16 --context 2000":            "--context: got 2000, which makes 2.56e+08 scores of queries and keys, want at most 134217728",
		"--layer additive --batch 2 --context 2000": "--context: got 2000, which makes 5.12e+08 scores of queries and keys, want at most 134217728",
		"--dropout 1":                  "--dropout: got 1, " + wantFraction,
		"--dropout -0.1":               "--dropout: got -0.1, " + wantFraction,
		"--dropout NaN":                "--dropout: got NaN, want a finite number",
		"--dropout 0.1 --layer simple": "--dropout: got 0.1, want 0 with --layer=simple, which has no dropout",
		"--qkv-bias=maybe":             `--qkv-bias: got "maybe", want true or false`,
	})
}

func TestTrainWrongTraining(t *testing.T) {
	requireRefused(t, map[string]string{
		"--solver rmsprop":                       `--solver: got "rmsprop", want one of sgd, adam, adamw`,
		"--steps 0":                              "--steps: got 0, want at least 1",
		"--steps 1e3":                            `--steps: got "1e3", want a whole number`,
		"--eval-every -1":                        "--eval-every: got -1, want at least 0",
		"--sample -1":                            "--sample: got -1, want at least 0",
		"--seed x":                               `--seed: got "x", want a whole number`,
		"--lr NaN":                               "--lr: got NaN, want a finite number",
		"--lr -0.1":                              "--lr: got -0.1, " + wantFinite,
		"--lr Inf":                               "--lr: got +Inf, want a finite number",
		"--lr fast":                              `--lr: got "fast", want a number`,
		"--clip NaN":                             "--clip: got NaN, want a finite number",
		"--clip -1":                              "--clip: got -1, " + wantFinite,
		"--decay biases":                         `--decay: got "biases", want one of all, matrices`,
		"--weight-decay -1":                      "--weight-decay: got -1, " + wantFinite,
		"--solver sgd --momentum 1":              "--momentum: got 1, " + wantFraction,
		"--momentum 0.9":                         "--momentum: got 0.9 with --solver=adamw, want 0: only sgd has it",
		"--order reversed":                       `--order: got "reversed", want one of random, sequential`,
		"--accumulate 0":                         "--accumulate: got 0, want at least 1",
		"--save-every -1":                        "--save-every: got -1, want at least 0",
		"--keep 0":                               "--keep: got 0, want at least 1",
		"--beta1 1":                              "--beta1: got 1, " + wantFraction,
		"--beta2 0":                              "--beta2: got 0, want a number above 0",
		"--eps NaN":                              "--eps: got NaN, want a finite number",
		"--solver sgd --beta2 0.9":               "--beta2: got 0.9 with --solver=sgd, want 0: only adam and adamw have it",
		"--min-lr 1":                             "--min-lr: got 1, want at most --lr=0.005",
		"--min-lr -1":                            "--min-lr: got -1, " + wantFinite,
		"--warmup -1":                            "--warmup: got -1, want at least 0",
		"--warmup 2000":                          "--warmup: got 2000, want less than --decay-steps=2000",
		"--decay-steps 0":                        "--decay-steps: got 0, want at least 1",
		"--lr 0 --min-lr 0 --steps 1 --warmup 1": "--warmup: got 1, want less than --decay-steps=1",
		"--steps":                                "train: flag needs an argument: --steps" + seeHelp,
	})
}

func TestTrainWrongSettings(t *testing.T) {
	requireRefused(t, map[string]string{
		"--preset=":                                  "--preset: got nothing, want the name",
		"--preset nano":                              `--preset: got "nano", want one of gpt2, nano-char, tiny`,
		"--config=":                                  "--config: got nothing, want the file",
		"--config nothere":                           "--config: nothere: no such file or directory, want a file like a run's config.json",
		"--config full":                              "--config: full: is a directory, want a file like a run's config.json",
		"--config short":                             "--config: short: not JSON: invalid character 'a' looking for beginning of value, want one JSON object",
		"--config empty":                             "--config: empty: not JSON: unexpected end of JSON input, want one JSON object",
		"--model llama":                              `--model: got "llama", want one of layer, gpt`,
		"--tokenizer bpe":                            `--tokenizer: got "bpe", want one of characters, bytes, gpt2`,
		"--layers 2":                                 "--layers: got it with --model layer, want it with --model gpt only",
		"--tie=false":                                "--tie: got it with --model layer, want it with --model gpt only",
		"--vocab 3":                                  "--vocab: got 3, want at least the 66 characters of the tokenizer",
		"--eval-batches -1":                          "--eval-batches: got -1, want at least 0",
		"--model gpt --layer causal":                 "--layer: got it with --model gpt, want it with --model layer only",
		"--model gpt --qkv-bias":                     "--qkv-bias: got it with --model gpt, want it with --model layer only",
		"--preset nano-char --layer causal":          "--layer: got it with --model gpt, want it with --model layer only",
		"--model gpt --layers 0":                     "--layers: got 0, want at least 1",
		"--model gpt --heads 3":                      "--heads: got 3, want a divisor of --width=64",
		"--model gpt --kv-heads 3":                   "--kv-heads: got 3, want 0 or a divisor of --heads=4",
		"--model gpt --hidden -1":                    "--hidden: got -1, want at least 0",
		"--model gpt --activation tanh":              `--activation: got "tanh", want gelu_new, gelu_pytorch_tanh, gelu, relu or silu`,
		"--model gpt --norm-eps 0":                   "--norm-eps: got 0, want a number above 0",
		"--model gpt --residual-dropout 1":           "--residual-dropout: got 1, want a number from 0 to below 1",
		"--model gpt --bias=2":                       `--bias: got "2", want true or false`,
		"--model gpt --layers 1000000000":            "--layers: got 1000000000, want at most 65536",
		"--model gpt --batch 9223372036854775807":    "--batch: got 9223372036854775807, which makes 1.51e+23 elements of a batch's vectors, want at most 4294967296",
		"--model gpt --tokenizer gpt2 --batch 10000": "--batch: got 10000, which makes 3.22e+10 scores of next tokens, want at most 4294967296",
	})
}

// TestTrainDiverges: a run that ends in NaN reports why and leaves no model.
func TestTrainDiverges(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "run")
	var out bytes.Buffer
	err := trainTo(t.Context(), &out, "--lr", "1e300", "--steps", "9", "--out", folder)
	require.ErrorContains(t, err, "not finite")
	require.ErrorContains(t, err, "; a smaller --lr may help; "+folder+" holds no model")
	require.Equal(t, []string{"checkpoints", "config.json", "metrics.jsonl"}, namesIn(t, folder))

	// Earlier checkpoints stay; in float64 the first update is still finite.
	folder = filepath.Join(dir, "saved")
	checkpoints := filepath.Join(folder, run.CheckpointsFolder)
	err = trainTo(t.Context(), &out, "--lr", "1e300", "--steps", "9", "--dtype", "float64", "--save-every", "1",
		"--out", folder)
	require.ErrorContains(t, err, "train: step 1: loss: got NaN, which is not finite; it began with ")
	require.ErrorContains(t, err, "; a smaller --lr may help; the checkpoint before it is "+
		filepath.Join(checkpoints, "step-00000001.safetensors"))
	require.Equal(t, []string{"lock", "step-00000001.safetensors"}, namesIn(t, checkpoints))
	require.Equal(t, 1, term.ExitCode(err))
}
