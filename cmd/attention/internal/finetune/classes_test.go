package finetune

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"

	"github.com/stretchr/testify/require"
)

// Classes that depend on the order of words are learned, predicted for held-out texts, and read again from the folder.
func TestClasses(t *testing.T) {
	table := func(from, to int) string {
		lines := "label,text\n"
		for i := range to - from {
			lines += fmt.Sprintf("first,cat %d mat\nsecond,mat %[1]d cat\n", from+i)
		}
		return lines
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"train.csv": table(0, 20), "valid.csv": table(20, 24)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	out := filepath.Join(t.TempDir(), "run")
	said, err := tune(t, "--task", "classify", "--model", commandtest.SmallLlama(t), "--data", dir, "--context", "24",
		"--lora", "0", "--lr", "0.02", "--warmup", "0", "--steps", "60", "--out", out)
	require.NoError(t, err)
	require.Contains(t, said, "Of the held-out texts 8 of 8 are given their class: 100.0 %.", said)
	in, err := models.Inspect(out)
	require.NoError(t, err)
	c, err := in.OpenClasses()
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second"}, c.Names)
	for i, given := range []string{"cat 22 mat", "mat 22 cat"} {
		chances, tokens, err := c.Of(given)
		require.NoError(t, err)
		require.Greater(t, tokens, 3)
		require.Greater(t, chances[i], 0.6, given)
		require.InDelta(t, 1, chances[0]+chances[1], 1e-9)
	}
	_, err = in.GPT()
	require.ErrorContains(t, err, "got a run that has learned classes, want one of a model that writes")

	for want, valid := range map[string]string{
		"line 2: label: got \"third\", which no example to learn from has": "label,text\nthird,cat\n",
		"line 1: got an example without a label":                           "",
	} {
		path := filepath.Join(t.TempDir(), "valid.csv")
		if valid == "" {
			path, valid = strings.Replace(path, "csv", "jsonl", 1), `{"text": "cat"}`
		}
		require.NoError(t, os.WriteFile(path, []byte(valid), 0o644))
		_, err := tune(t, "--task", "classify", "--model", commandtest.SmallLlama(t), "--data", dir, "--valid", path)
		require.ErrorContains(t, err, want)
	}
}
