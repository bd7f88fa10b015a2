package generate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
)

// A model of one layer also continues beyond its window, by reading the window anew.
func TestGenerateFromLayerRuns(t *testing.T) {
	dir, _, m := commandtest.LayerRun(t, "multi_head")
	g, err := generate.NewWithoutCache(m, 6, generate.Config{Temperature: 0.8, Seed: 1})
	require.NoError(t, err)
	require.NoError(t, g.Prompt(context.Background(), []int{1, 0, 3}))
	want := ""
	for range 20 {
		id, err := g.Next(context.Background())
		require.NoError(t, err)
		want += string("abcde"[id])
	}
	require.Equal(t, "bad"+want+"\n", mustGenerate(t, "--model", dir, "--prompt", "bad", "--tokens", "20"))

	dir, _, _ = commandtest.LayerRun(t, "self_v2")
	require.Len(t, mustGenerate(t, "--model", dir, "--prompt", "deadbe", "--tokens", "9"), len("deadbe")+9+len("\n"))
	_, notes, err := generated(context.Background(), "--model", dir, "--prompt", "deadbead", "--tokens", "9")
	require.NoError(t, err)
	require.Equal(t, "attention: the prompt has 8 tokens, the model's window 6: it sees only the end of the prompt\n",
		notes)
	_, _, err = generated(context.Background(), "--model", dir, "--prompt", "bad")
	require.EqualError(t, err, "--prompt: got 3 tokens, want at least 6: the model continues whole windows only")

	config := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{old: `"float64"`, new: `"int"`, want: `: dtype: got "int", want one of float32, float64`},
		{old: "abcde", new: "acbde", want: ": vocabulary.characters: got 'b' after 'c', want ascending characters"},
		{old: `"vocab_size":5`, new: `"vocab_size":0`, want: ": model.vocab_size: got 0, want at least 1"},
		{old: `"float64"`, new: `64`, want: ": dtype: got 64, want a string"},
	} {
		require.Contains(t, string(text), c.old)
		require.NoError(t, os.WriteFile(config, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644))
		_, _, err = generated(context.Background(), "--model", dir, "--prompt", "deadbead")
		require.ErrorContains(t, err, "--model: "+config+c.want)
	}
	require.NoError(t, os.WriteFile(config, text, 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
	_, _, err = generated(context.Background(), "--model", dir, "--prompt", "deadbead")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A decoder of several kinds of blocks continues a text as without a cache, and past its context.
func TestGenerateFromADecoderRun(t *testing.T) {
	dir, _, m := commandtest.DecoderRun(t)
	g, err := generate.NewWithoutCache(m, 6, generate.Config{})
	require.NoError(t, err)
	require.NoError(t, g.Prompt(context.Background(), []int{1, 0, 3}))
	want := "bad"
	for range 3 {
		id, err := g.Next(context.Background())
		require.NoError(t, err)
		want += string("abcde"[id])
	}
	flags := []string{"--model", dir, "--prompt", "bad", "--tokens"}
	require.Equal(t, want+"\n", mustGenerate(t, append(flags, "3", "--temperature", "0")...))
	require.Len(t, mustGenerate(t, append(flags, "20")...), len("bad")+20+len("\n"))
}
