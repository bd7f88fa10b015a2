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
	for _, c := range []struct {
		args []string
		want string
	}{
		{args: []string{"--prompt", "a"},
			want: "--model: missing, want the folder of a model: runs has none to take; attention train makes one"},
		{args: []string{"--model", dir, "--prompt", "a", "--prompt-file", long},
			want: "--prompt-file: got a file besides --prompt, want one of them"},
		{args: []string{"--model", dir, "--prompt", "a", "--tokens", "0"}, want: "--tokens: got 0, want at least 1"},
		{args: []string{"--model", dir, "--prompt", "a", "--stop", ""},
			want: "--stop: got nothing, want at least one character"},
		{args: []string{"--model", dir, "--prompt", "a", "--temperature", "-1"},
			want: "--temperature: got -1, want a finite number of at least 0"},
		{args: []string{"--model", dir, "--prompt", "a", "--top-p", "NaN"},
			want: "--top-p: got NaN, want a number from 0 to 1"},
		{args: []string{"--model", dir, "--prompt", "a", "--top-k", "-1"}, want: "--top-k: got -1, want at least 0"},
		{args: []string{"--model", dir, "--prompt", "a", "--min-p", "2"}, want: "--min-p: got 2, want a number from 0 to 1"},
		{args: []string{"--model", dir, "--prompt", "a", "--repetition-penalty", "-1"},
			want: "--repetition-penalty: got -1, want a finite number of at least 0"},
		{args: []string{"--model", dir, "--prompt", "a", "--context", "-1"}, want: "--context: got -1, want at least 0"},
		{args: []string{"--model", dir, "--prompt", "a", "--context", "41"},
			want: "--context: got 41, want 0 to ContextLength=40"},
		{args: []string{"--model", dir, "--prompt", "a", "--samples", "2", "--context", "41"},
			want: "--context: got 41, want 0 to ContextLength=40"},
		{args: []string{"--model", empty, "--prompt", "a"},
			want: "--model: open " + filepath.Join(empty, "config.json") + ": no such file or " +
				"directory, want the folder of a model, with config.json and model.safetensors"},
		{args: []string{"--model", noTokenizer, "--prompt", "a"},
			want: "--model: " + noTokenizer + ": config.json: got no vocabulary of a tokenizer known here, want " +
				"\"vocabulary\", a tokenizer.json or GPT-2's 50257 tokens"},
		{args: []string{"--model", dir},
			want: "--prompt: got no text, want some to continue: the model has no token to begin with"},
		{args: []string{"--model", dir, "--prompt", "abx"},
			want: "--prompt: text: got 'x' at position 2, want one of the vocabulary's 11 characters"},
		{args: []string{"--model", long + "er", "--prompt", "a"},
			want: "--model: stat " + long + "er: no such file or directory, want the folder of a model"},
		{args: []string{"--model", long, "--prompt", "a"},
			want: "--model: " + long + ": got a file, want the folder of a model, with config.json and model.safetensors, " +
				"or a GGUF file"},
		{args: []string{"--model", dir, "--prompt-file", long + "er"},
			want: "--prompt-file: open " + long + "er: no such file or directory"},
		{args: []string{"ab"}, want: `unknown command "ab" for "attention generate"`},
	} {
		text, notes, err := generated(context.Background(), c.args...)
		require.EqualError(t, err, c.want)
		require.Equal(t, 1, term.ExitCode(err))
		require.Empty(t, text+notes)
	}
	_, _, err := generated(context.Background(), "--tokens", "many")
	require.EqualError(t, err, `--tokens: got "many", want a whole number`)
	_, _, err = generated(context.Background(), "--temperature", "hot")
	require.EqualError(t, err, `--temperature: got "hot", want a number`)

	bias, _ := g.Params.Get("transformer.ln_f.bias")
	tokens, _ := g.Params.Get("transformer.wte.weight")
	for i := range tokens.Float32s() {
		tokens.Float32s()[i] *= 1e20
	}
	bias.Float32s()[3] = 1e38
	_, _, err = generated(context.Background(), "--model", commandtest.WriteGPT(t, g), "--prompt", "a")
	require.ErrorContains(t, err, "generate: logits: got ")

	bias.Float32s()[3] = float32(math.Inf(1))
	dir = commandtest.WriteGPT(t, g)
	_, _, err = generated(context.Background(), "--model", dir, "--prompt", "a")
	require.EqualError(t, err,
		"--model: pretrained: "+dir+": parameter transformer.ln_f.bias: has values that are not finite")
}

// A model's text is escaped on a screen, and unchanged for another program.
func TestGenerateEscapesOnATerminal(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&continuation{out: term.NewScreen(&out)}).print("a\x1b[2J\n"))
	require.NoError(t, (&continuation{out: term.Raw(term.NewScreen(&out))}).print("\x1b"))
	require.Equal(t, "a\\x1b[2J\n\x1b", out.String())
}
