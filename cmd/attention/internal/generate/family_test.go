package generate

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/safetensors"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// A model folder of another family continues a text: its tokenizer begins it, only tokens of the tokenizer are drawn,
// and it ends at the ids of generation_config.json.
func TestGenerateFamily(t *testing.T) {
	dir := commandtest.SmallLlama(t)
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	begin, err := g.Tokenizer.Encode("the cat")
	require.NoError(t, err)
	texts, err := generate.New(g.Model, generate.Config{VocabSize: 265})
	require.NoError(t, err)
	require.NoError(t, texts.Prompt(t.Context(), append([]int{264}, begin...)))
	want := "the cat"
	for range 6 {
		id, err := texts.Next(t.Context())
		require.NoError(t, err)
		if id == 264 || id == 65 {
			break
		}
		token, err := g.Tokenizer.Decode([]int{id})
		require.NoError(t, err)
		want += token
	}
	file := filepath.Join(t.TempDir(), "weights")
	text, notes, err := generated(context.Background(), "--model", dir, "--prompt", "the cat", "--tokens", "6",
		"--temperature", "0", "--weights", file)
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, want+"\n", text)
	weights, err := safetensors.ReadFile(file)
	require.NoError(t, err)
	require.Len(t, weights.Tensors, 2)
	for _, x := range weights.Tensors {
		require.Contains(t, x.Name, "self_attn")
		require.Equal(t, 3, x.Shape[0])
	}
}

// Several texts are those that the command writes one by one.
func TestSeveralTexts(t *testing.T) {
	dir := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	one := func(prompt string, seed int, more ...string) string {
		return mustGenerate(t, append(more, "--model", dir, "--prompt", prompt, "--seed", fmt.Sprint(seed),
			"--tokens", "9")...)
	}
	require.Equal(t, fmt.Sprintf("--- sample 1\n%s--- sample 2\n%s--- sample 3\n%s", one("ab", 5), one("ab", 6),
		one("ab", 7)), mustGenerate(t, "--model", dir, "--prompt", "ab", "--seed", "5", "--samples", "3", "--tokens", "9"))
	require.Equal(t, fmt.Sprintf("--- prompt 1\n%s--- prompt 2\n%s", one("ab", 1), one("cdcdc", 2)),
		mustGenerate(t, "--model", dir, "--prompt", "ab", "--prompt", "cdcdc", "--tokens", "9"))
	stop := one("b", 1)[len("b")+2:][:1]
	require.Equal(t, fmt.Sprintf("--- prompt 1, sample 1\n%s--- prompt 1, sample 2\n%s--- prompt 2, sample 1\n%s"+
		"--- prompt 2, sample 2\n%s", one("b", 1, "--stop", stop), one("b", 2, "--stop", stop),
		one("dd", 3, "--stop", stop), one("dd", 4, "--stop", stop)),
		mustGenerate(t, "--model", dir, "--prompt", "b", "--prompt", "dd", "--samples", "2", "--tokens", "9", "--stop", stop))
}

// What is written when the command is interrupted is printed.
func TestSeveralTextsInterrupted(t *testing.T) {
	dir := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text, _, err := generated(ctx, "--model", dir, "--prompt", "ab", "--samples", "2", "--tokens", "9")
	require.EqualError(t, err, "stopped after 0 of 18 tokens")
	require.Empty(t, text)
}

func TestSeveralTextsRefused(t *testing.T) {
	dir := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	for _, row := range []struct {
		args    []string
		wantErr string
	}{
		{args: []string{"--samples", "0"}, wantErr: "--samples: got 0 of 1 prompts, want 1 to 1024 texts"},
		{args: []string{"--samples", "1025"}, wantErr: "--samples: got 1025 of 1 prompts, want 1 to 1024 texts"},
		{
			args:    []string{"--samples", "2", "--prompt", "b", "--weights", "w.safetensors"},
			wantErr: "--weights: got several texts, want one",
		},
	} {
		_, _, err := generated(context.Background(), append(row.args, "--model", dir, "--prompt", "a")...)
		require.ErrorContains(t, err, row.wantErr)
	}
}
