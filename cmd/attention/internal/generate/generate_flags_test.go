package generate

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// Every error is one line.
func TestGenerateWrong(t *testing.T) {
	g := commandtest.SmallGPT(t)
	dir := commandtest.WriteGPT(t, g)
	empty, none := t.TempDir(), commandtest.SmallGPT(t)
	none.Tokenizer = nil
	noTokenizer := commandtest.WriteGPT(t, none)
	long := filepath.Join(t.TempDir(), "long")
	require.NoError(t, os.WriteFile(long, bytes.Repeat([]byte("a"), 41), 0o644))
	for want, args := range map[string][]string{
		"--model: missing, want the folder of a model":                                                                                        {"--prompt", "a"},
		"--prompt-file: got a file besides --prompt, want one of them":                                                                        {"--model", dir, "--prompt", "a", "--prompt-file", long},
		"--tokens: got 0, want at least 1":                                                                                                    {"--model", dir, "--prompt", "a", "--tokens", "0"},
		"--stop: got nothing, want at least one character":                                                                                    {"--model", dir, "--prompt", "a", "--stop", ""},
		"generate: Temperature: got -1, want a finite number of at least 0":                                                                   {"--model", dir, "--prompt", "a", "--temperature", "-1"},
		"generate: TopP: got NaN, want a probability":                                                                                         {"--model", dir, "--prompt", "a", "--top-p", "NaN"},
		"generate: TopK: got -1, want at least 0":                                                                                             {"--model", dir, "--prompt", "a", "--top-k", "-1"},
		"--model: pretrained: " + empty + ": open " + filepath.Join(empty, "config.json") + ": no such file or directory":                     {"--model", empty, "--prompt", "a"},
		"--model: " + noTokenizer + ": config.json: got no vocabulary of a tokenizer known here, want \"vocabulary\" or GPT-2's 50257 tokens": {"--model", noTokenizer, "--prompt", "a"},
		"--prompt: got no text, want some to continue: the model has no token to begin with":                                                  {"--model", dir},
		"--prompt: text: got 'x' at position 2, want one of the vocabulary's 11 characters":                                                   {"--model", dir, "--prompt", "abx"},
		"--model: stat " + long + "er: no such file or directory, want the folder of a model":                                                 {"--model", long + "er", "--prompt", "a"},
		"--model: " + long + ": got a file, want the folder of a model, with config.json and model.safetensors":                               {"--model", long, "--prompt", "a"},
		"--prompt-file: open " + long + "er: no such file or directory":                                                                       {"--model", dir, "--prompt-file", long + "er"},
		`unknown command "ab" for "attention generate"`:                                                                                       {"ab"},
	} {
		text, notes, err := generated(context.Background(), args...)
		require.EqualError(t, err, want)
		require.Equal(t, 1, term.ExitCode(err))
		require.Empty(t, text+notes)
	}
	_, _, err := generated(context.Background(), "--tokens", "many")
	require.ErrorContains(t, err, "generate: invalid argument \"many\" for \"--tokens\"")
	require.ErrorContains(t, err, "; see attention generate --help")

	bias, _ := g.Params.Get("transformer.ln_f.bias")
	bias.Float32s()[3] = float32(math.Inf(1))
	_, _, err = generated(context.Background(), "--model", commandtest.WriteGPT(t, g), "--prompt", "a")
	require.ErrorContains(t, err, "generate: logits: got ")
}
