package train

import (
	"bytes"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// refused is a command line, split at spaces, and its error.
type refused struct{ args, want string }

// requireRefused requires that each call fails with one line that names the flag. Before that line the call prints and
// creates nothing.
func requireRefused(t *testing.T, calls []refused) {
	commandtest.InBadFolder(t)
	before := commandtest.Files(t)
	for _, c := range calls {
		var out bytes.Buffer
		err := trainTo(t.Context(), &out, strings.Fields(c.args)...)
		require.EqualError(t, err, c.want, c.args)
		require.Equal(t, strings.Join(strings.Fields(c.want), " "), term.OneLine(err))
		require.Empty(t, out.String(), c.args)
	}
	require.Equal(t, before, commandtest.Files(t))
}

const (
	wantFinite   = "want a finite number of at least 0"
	wantFraction = "want a number from 0 to below 1"
	seeHelp      = "; see attention train --help"
	wantGroup    = "want PATTERN:lr_factor=NUMBER, PATTERN:weight_decay=NUMBER, PATTERN:solver=adamw or several, " +
		"with commas"
)

func TestTrainWrongFilesAndFlags(t *testing.T) {
	requireRefused(t, []refused{
		{args: "--text nothere", want: "--text: nothere: no such file or directory, want a text file"},
		{args: "--text full", want: "--text: full: got a folder, want a regular file"},
		{args: "--text empty", want: "--text: empty: got an empty file, want a text"},
		{args: "--text short", want: "--text: short: got 60 characters, want more than 10 times --context 64"},
		{args: "--text latin1", want: "--text: latin1: got byte 0xe9 at offset 3, want UTF-8"},
		{args: "--text cut", want: "--text: cut: got byte 0xe2 at offset 3, want UTF-8"},
		{args: "--text=", want: "--text: got nothing, want the file"},
		{args: "--out=", want: "--out: got nothing, want the folder"},
		{args: "--out full", want: "--out: full: got a folder that is not empty, want a new or empty one"},
		{args: "--out empty", want: "--out: mkdir empty: not a directory, want a folder to write to"},
		{args: "--out empty/run", want: "--out: mkdir empty: not a directory, want a folder to write to"},
		{args: "--resume=", want: "--resume: got nothing, want the folder"},
		{args: "--resume full", want: "--resume: open full/config.json: no such file or directory, want the folder of a run"},
		{args: "--init=", want: "--init: got nothing, want the file"},
		{args: "--init nothere", want: "--init: open nothere: no such file or directory"},
		{args: "--init short",
			want: "--init: train: parameters: safetensors: short: header length: got 7089055458859770465 bytes, want at most " +
				"100000000"},
		{args: "--prompt=", want: "--prompt: got nothing, want the text"},
		{args: "--prompt aé", want: "--prompt: text: got 'é' at position 1, want one of the vocabulary's 66 characters"},
		{args: "--layer self_v2 --prompt abc",
			want: "--prompt: got 3 characters, want at least --context 8: layer self_v2 continues whole windows only"},
		{args: "--text short --context 6", want: "--text: short: got 60 characters, want more than 10 times --context 6"},
		{args: "novel.txt", want: `got "novel.txt", want only flags; a text is named by --text`},
		{args: "--speed 3", want: "unknown flag: --speed" + seeHelp + "\n\nDid you mean this?\n--seed"},
	})
}

func TestTrainWrongModel(t *testing.T) {
	const layers = "simple, self_v1, self_v2, causal, multi_head_wrapper, multi_head, additive"
	requireRefused(t, []refused{
		{args: "--layer gpt", want: `--layer: got "gpt", want one of ` + layers},
		{args: "--layer=", want: "--layer: got nothing, want the variant"},
		{args: "--dtype float16", want: `--dtype: got "float16", want one of float32, float64`},
		{args: "--width 0", want: "--width: got 0, want at least 1"},
		{args: "--width 1000000000000", want: "--width: got 1000000000000, want at most 2147483647"},
		{args: "--width wide", want: `--width: got "wide", want a whole number`},
		{args: "--heads 0", want: "--heads: got 0, want at least 1"},
		{args: "--heads 5", want: "--heads: got 5, want a divisor of --width=64"},
		{args: "--heads 65", want: "--heads: got 65, want a divisor of --width=64"},
		{args: "--layer multi_head_wrapper --heads 5", want: "--heads: got 5, want a divisor of --width=64"},
		{args: "--context 0", want: "--context: got 0, want at least 1"},
		{args: "--context 4000",
			want: "--context: got 4000, which makes 1.02e+09 scores of queries and keys, want at most 134217728"},
		{args: "--batch 1 --context 3927", want: "--context: got 3927, want at most 3926 for the built-in text"},
		{args: "--context 9223372036854775807",
			want: "--context: got 9223372036854775807, which makes 5.9e+20 weights of an embedding, want at most 134217728"},
		{args: "--batch -1", want: "--batch: got -1, want at least 1"},
		{args: "--batch 9223372036854775807",
			want: "--batch: got 9223372036854775807, which makes 3.78e+22 elements of a batch's vectors, " +
				"want at most 134217728"},
		{args: "--batch 16 --context 2000",
			want: "--context: got 2000, which makes 2.56e+08 scores of queries and keys, want at most 134217728"},
		{args: "--layer additive --batch 2 --context 2000",
			want: "--context: got 2000, which makes 5.12e+08 scores of queries and keys, want at most 134217728"},
		{args: "--dropout 1", want: "--dropout: got 1, " + wantFraction},
		{args: "--dropout -0.1", want: "--dropout: got -0.1, " + wantFraction},
		{args: "--dropout NaN", want: "--dropout: got NaN, want a finite number"},
		{args: "--dropout 0.1 --layer simple", want: "--dropout: got 0.1, want 0 with --layer=simple, which has no dropout"},
		{args: "--qkv-bias=maybe", want: `--qkv-bias: got "maybe", want true or false`},
	})
}

func TestTrainWrongTraining(t *testing.T) {
	requireRefused(t, []refused{
		{args: "--solver rmsprop", want: `--solver: got "rmsprop", want one of sgd, adam, adamw, muon`},
		{args: "--steps 0", want: "--steps: got 0, want at least 1"},
		{args: "--steps 1e3", want: `--steps: got "1e3", want a whole number`},
		{args: "--eval-every -1", want: "--eval-every: got -1, want at least 0"},
		{args: "--sample -1", want: "--sample: got -1, want at least 0"},
		{args: "--seed x", want: `--seed: got "x", want a whole number`},
		{args: "--lr NaN", want: "--lr: got NaN, want a finite number"},
		{args: "--lr -0.1", want: "--lr: got -0.1, " + wantFinite},
		{args: "--lr Inf", want: "--lr: got +Inf, want a finite number"},
		{args: "--lr fast", want: `--lr: got "fast", want a number`},
		{args: "--clip NaN", want: "--clip: got NaN, want a finite number"},
		{args: "--clip -1", want: "--clip: got -1, " + wantFinite},
		{args: "--decay biases", want: `--decay: got "biases", want one of all, matrices`},
		{args: "--weight-decay -1", want: "--weight-decay: got -1, " + wantFinite},
		{args: "--solver sgd --momentum 1", want: "--momentum: got 1, " + wantFraction},
		{args: "--momentum 0.9", want: "--momentum: got 0.9 with --solver=adamw, want one of the two: only sgd and muon have it"},
		{args: "--order reversed", want: `--order: got "reversed", want one of random, sequential`},
		{args: "--accumulate 0", want: "--accumulate: got 0, want at least 1"},
		{args: "--save-every -1", want: "--save-every: got -1, want at least 0"},
		{args: "--keep 0", want: "--keep: got 0, want at least 1"},
		{args: "--beta1 1", want: "--beta1: got 1, " + wantFraction},
		{args: "--beta2 0", want: "--beta2: got 0, want a number above 0"},
		{args: "--eps NaN", want: "--eps: got NaN, want a finite number"},
		{args: "--solver sgd --beta2 0.9",
			want: "--beta2: got 0.9 with --solver=sgd, want one of the two: only adam, adamw and muon have it"},
		{args: "--min-lr 1", want: "--min-lr: got 1, want at most --lr=0.005"},
		{args: "--min-lr -1", want: "--min-lr: got -1, " + wantFinite},
		{args: "--warmup -1", want: "--warmup: got -1, want at least 0"},
		{args: "--warmup 2000", want: "--warmup: got 2000, want less than --decay-steps=2000"},
		{args: "--schedule linear", want: `--schedule: got "linear", want one of constant, cosine, wsd`},
		{args: "--schedule constant --warmup 3",
			want: "--warmup: got it with --schedule constant, want it with --schedule cosine and wsd only"},
		{args: "--schedule wsd --min-lr 1", want: "--min-lr: got 1, want at most --lr=0.005"},
		{args: "--schedule wsd --decay-steps 0", want: "--decay-steps: got 0, want at least 1"},
		{args: "--nesterov=false", want: "--nesterov: got it without --solver=muon, want both"},
		{args: "--ns-steps 3", want: "--ns-steps: got 3 without --solver=muon, want both"},
		{args: "--decay-steps 0", want: "--decay-steps: got 0, want at least 1"},
		{args: "--lr 0 --min-lr 0 --steps 1 --warmup 1", want: "--warmup: got 1, want less than --decay-steps=1"},
		{args: "--freeze output --freeze tokns",
			want: `--freeze: got "tokns", want a pattern of the 9 parameters' names, such as tokens`},
		{args: "--freeze=", want: "--freeze: got nothing, want the pattern"},
		{args: "--freeze tokens --freeze *",
			want: "--freeze: got patterns of all 9 parameters, want at least one left to train"},
		{args: "--group tokens:lr_factor=2 --group *.weight:lr_factor=2",
			want: `--group[1].params: got "*.weight", which has tokens.weight like the "tokens" of another group, ` +
				"want it in one of them"},
		{args: "--group tokns:lr_factor=2",
			want: `--group[0].params: got "tokns", want a pattern of the 9 parameters' names, such as tokens`},
		{args: "--group tokens:lr=2",
			want: `--group: unknown field "lr"; it has params, lr_factor, weight_decay, solver`},
		{args: "--group tokens", want: `--group: got "tokens", ` + wantGroup},
		{args: "--group tokens:lr_factor=NaN", want: `--group: got "tokens:lr_factor=NaN", ` + wantGroup},
		{args: "--group tokens:lr_factor=1,lr_factor=1", want: `--group: got "tokens:lr_factor=1,lr_factor=1", ` + wantGroup},
		{args: "--group tokens:weight_decay=-1", want: "--group[0].weight_decay: got -1, " + wantFinite},
		{args: "--model gpt --context-growth 16", want: `--context-growth: got "16", want TOKENS:STEPS, or none`},
		{args: "--model gpt --context-growth 16:x", want: `--context-growth: got "16:x", want TOKENS:STEPS, or none`},
		{args: "--preset speedrun --order sequential",
			want: "--preset: speedrun: context_growth: got it for windows in order or in epochs, want it for random ones"},
		{args: "--model gpt --context-growth 16:0", want: "--context-growth[0].steps: got 0, want at least 1"},
		{args: "--model gpt --context-growth 24:1",
			want: "--context-growth[0].context: got 24, want a divisor of the context of 64, and less"},
		{args: "--layer self_v1 --context-growth 4:1", want: "--context-growth: got it for windows of which only the last " +
			"target counts, want it for those of all"},
		{args: "--model gpt --order sequential --context-growth 16:1",
			want: "--context-growth: got it for windows in order or in epochs, want it for random ones"},
		{args: "--patience -1", want: "--patience: got -1, want at least 0"},
		{args: "--patience 2 --eval-every 0",
			want: "--patience: got 2 with --eval-every=0, want it with evaluations during the run"},
		{args: "--best --eval-every 0",
			want: "--best: got true with --eval-every=0, want it with evaluations during the run"},
		{args: "--min-delta 0.1", want: "--min-delta: got 0.1 with --patience=0, want 0"},
		{args: "--patience 2 --min-delta -0.1", want: "--min-delta: got -0.1, " + wantFinite},
		{args: "--steps", want: "flag needs an argument: --steps" + seeHelp},
	})
}

func TestTrainWrongSettings(t *testing.T) {
	requireRefused(t, []refused{
		{args: "--preset=", want: "--preset: got nothing, want the name"},
		{args: "--preset nano",
			want: `--preset: got "nano", want one of book, book-small, gpt2, llama-char, nano-char, speedrun, tiny`},
		{args: "--config=", want: "--config: got nothing, want the file"},
		{args: "--config nothere",
			want: "--config: nothere: no such file or directory, want a file like a run's config.json"},
		{args: "--config full", want: "--config: full: got a folder, want a regular file"},
		{args: "--config short",
			want: "--config: short: not JSON: invalid character 'a' looking for beginning of value, want one JSON object"},
		{args: "--config empty", want: "--config: empty: not JSON: unexpected end of JSON input, want one JSON object"},
		{args: "--model llama", want: `--model: got "llama", want one of layer, gpt, decoder`},
		{args: "--model llama --layers 2 --layer causal", want: `--model: got "llama", want one of layer, gpt, decoder`},
		{args: "--tokenizer bpe", want: `--tokenizer: got "bpe", want characters, bytes, gpt2 or the path of a tokenizer.json`},
		{args: "--layers 2", want: "--layers: got it with --model layer, want it with --model gpt only"},
		{args: "--tie=false", want: "--tie: got it with --model layer, want it with --model gpt only"},
		{args: "--vocab 3", want: "--vocab: got 3, want at least the 66 characters of the tokenizer"},
		{args: "--eval-batches -1", want: "--eval-batches: got -1, want at least 0"},
		{args: "--model gpt --layer causal", want: "--layer: got it with --model gpt, want it with --model layer only"},
		{args: "--initializer torch", want: "--initializer: got it with --model layer, want it with --model gpt only"},
		{args: "--epochs -1", want: "--epochs: got -1, want at least 0"},
		{args: "--preset nano-char --layer causal",
			want: "--layer: got it with --model gpt, want it with --model layer only"},
		{args: "--model gpt --layers 0", want: "--layers: got 0, want at least 1"},
		{args: "--model gpt --heads 3", want: "--heads: got 3, want a divisor of --width=64"},
		{args: "--model gpt --kv-heads 3", want: "--kv-heads: got 3, want 0 or a divisor of --heads=4"},
		{args: "--model gpt --hidden -1", want: "--hidden: got -1, want at least 0"},
		{args: "--model gpt --activation tanh",
			want: `--activation: got "tanh", want gelu_new, gelu_pytorch_tanh, gelu, relu, relu2 or silu`},
		{args: "--model gpt --norm-eps 0", want: "--norm-eps: got 0, want a number above 0"},
		{args: "--model gpt --residual-dropout 1", want: "--residual-dropout: got 1, want a number from 0 to below 1"},
		{args: "--model gpt --bias=2", want: `--bias: got "2", want true or false`},
		{args: "--model gpt --layers 1000000000", want: "--layers: got 1000000000, want at most 65536"},
		{args: "--model gpt --batch 9223372036854775807",
			want: "--batch: got 9223372036854775807, which makes 1.51e+23 elements of a batch's vectors, want at most " +
				"4294967296"},
		{args: "--model gpt --tokenizer gpt2 --batch 10000",
			want: "--batch: got 10000, which makes 3.22e+10 scores of next tokens, want at most 4294967296"},
	})
}
