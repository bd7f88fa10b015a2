package pretrained_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// job is a request to llama.cpp about a file.
type job struct {
	Model   string   `json:"model"`
	LoRA    string   `json:"lora,omitempty"` // a file of adapters for it
	IDs     []int64  `json:"ids"`
	Greedy  int      `json:"greedy"`  // how many tokens to add to IDs
	Texts   []string `json:"texts"`   // to tokenize
	Special bool     `json:"special"` // texts may name special tokens
	Letters bool     `json:"letters"` // the tokens are a few letters, too few for any text
}

// verdict is llama.cpp's answer to a job.
type verdict struct {
	Error    string      `json:"error"`
	Warnings []string    `json:"warnings"` // about the file
	LogProbs [][]float64 `json:"logProbs"` // after each id, for all tokens
	Greedy   []int64     `json:"greedy"`
	Tokens   [][]int     `json:"tokens"`
}

// requireLlamacpp skips the test if llama.cpp is not installed, and returns the paths of node and the script.
func requireLlamacpp(t testing.TB) (node, script string) {
	script, err := golden.Path("llamacpp", "judge.mjs")
	require.NoError(t, err)
	node, err = exec.LookPath("node")
	if err != nil {
		t.Skip("llama.cpp runs under node, which is not installed")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "node_modules")); err != nil {
		t.Skip("llama.cpp is not installed: npm i --ignore-scripts --omit=optional --no-save in testdata/llamacpp")
	}
	return node, script
}

// llamacpp returns llama.cpp's answers about files.
func llamacpp(t testing.TB, jobs ...job) (all []verdict) {
	node, script := requireLlamacpp(t)
	dir := t.TempDir()
	asked, answered := filepath.Join(dir, "jobs.json"), filepath.Join(dir, "answers.json")
	writeJSON(t, asked, jobs)
	wrong, err := exec.Command(node, script, asked, answered).CombinedOutput()
	require.NoError(t, err, "%s", wrong)
	text, err := os.ReadFile(answered)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, len(jobs))
	return all
}

// fine requires that llama.cpp loaded a file without a message about it.
func fine(t testing.TB, v verdict) {
	require.Empty(t, v.Error)
	require.Empty(t, v.Warnings, "llama.cpp warns about the file")
}
