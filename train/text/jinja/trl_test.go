package jinja_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"attention/train/text/jinja"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTRLTemplates: each template of the package trl renders 200 random conversations as transformers does, letter for
// letter, and refuses those that it refuses there (testdata/templates/trltemplates.py).
func TestTRLTemplates(t *testing.T) {
	python := os.Getenv("ATTENTION_PYTHON")
	if python == "" {
		t.Skip("needs ATTENTION_PYTHON, a Python with the packages of train/text/testdata/templates/README.md")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), python, "trltemplates.py", "200", dir)
	cmd.Dir = "../testdata/templates"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 72)
	rendered, refused := 0, 0
	for _, file := range files {
		var stored struct {
			Source string
			Rows   []struct {
				Variables json.RawMessage
				Result    any
			}
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &stored))
		template, err := jinja.Parse(stored.Source)
		if !assert.NoError(t, err, filepath.Base(file)) {
			continue
		}
		for i, row := range stored.Rows {
			got, _, err := template.Render(t.Context(), dict(t, string(row.Variables)), moment)
			title := fmt.Sprintf("%s %d", filepath.Base(file), i)
			if want, ok := row.Result.(string); ok {
				rendered++
				if !assert.NoError(t, err, title) || !assert.Equal(t, want, got, title) {
					break
				}
				continue
			}
			refused++
			if !assert.Error(t, err, "%s: %v", title, row.Result) {
				break
			}
		}
	}
	t.Logf("%d renderings are equal, %d are refused as there", rendered, refused)
}
