package finetune

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// short is a template whose texts fit the rows of a tiny model.
const shortTemplate = `{% for m in messages %}{{ m['content'] }}{{ eos_token if m['role'] == 'assistant' else '?' }}{% endfor %}`

// files writes examples and a template, and returns the flags of a run with them on a tiny model.
func files(t *testing.T, more ...string) (base string, flags []string) {
	dir, lines := t.TempDir(), strings.Builder{}
	for i := range 12 {
		fmt.Fprintf(&lines, `{"prompt": "cat %d", "completion": "mat %d"}`+"\n", i, i%3)
	}
	for name, content := range map[string]string{"train.jsonl": lines.String(), "short.jinja": shortTemplate,
		"valid.jsonl": `{"messages": [{"role": "user", "content": "cat 20"}, {"role": "assistant", "content": "mat 2"}]}`} {
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

// A run learns, its folder holds adapters and not the base, and it resumes with the same bits.
func TestFinetune(t *testing.T) {
	base, flags := files(t, "--steps", "20", "--eval-every", "10", "--save-every", "5", "--keep", "9")
	whole, stopped := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "stopped")
	out, err := tune(t, append(flags, "--out", whole)...)
	require.NoError(t, err, out)
	t.Log(out)
	require.NoError(t, os.CopyFS(stopped, os.DirFS(whole)))
	_, err = tune(t, "--resume", filepath.Join(stopped, "checkpoints", "step-00000010.safetensors"))
	require.NoError(t, err)
	for _, name := range []string{run.ModelFile, run.ConfigFile, "checkpoints/step-00000020.safetensors"} {
		want, err := os.ReadFile(filepath.Join(whole, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(stopped, name))
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	saved, _, err := checkpoint.ReadTensors(filepath.Join(whole, run.ModelFile))
	require.NoError(t, err)
	require.Len(t, saved, 2*2*7, "two adapters of seven maps in each of two blocks")
	for name := range maps.Keys(saved) {
		require.Contains(t, name, "lora_")
	}
	_ = base
}
