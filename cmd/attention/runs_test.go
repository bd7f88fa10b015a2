package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// TestRunsOf900aa4f runs the commands beside each run folder of testdata/runs, which the program of commit 900aa4f
// wrote. The results are close to those of that program. The sums of their output and files, bit for bit, are recorded
// since fused attention of float32 became as exact as the composed form, by this test itself in place of the
// comparison. For AVX-512 only the run that is trained from the start again is recorded.
func TestRunsOf900aa4f(t *testing.T) {
	runs, err := golden.Path("runs")
	require.NoError(t, err)
	entries, err := os.ReadDir(runs)
	require.NoError(t, err)
	seen := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		seen++
		some := []string{"causal", "finished_gpt", "gpt"}
		if !testing.Short() {
			some = append(some, "finished_layer", "gpt2_killed", "initialised", "tiny")
		}
		if !testenv.All && !slices.Contains(some, e.Name()) {
			continue // all of them take 15 s of CPU time
		}
		t.Run(e.Name(), func(t *testing.T) {
			from := filepath.Join(runs, e.Name())
			t.Chdir(t.TempDir())
			require.NoError(t, os.CopyFS("run", os.DirFS(filepath.Join(from, "run"))))
			for _, name := range []string{"text.txt", "start.safetensors"} { // some runs name it
				require.NoError(t, os.WriteFile(name, contentOf(t, filepath.Join(runs, name)), 0o644))
			}
			printed := runCommands(t, string(contentOf(t, filepath.Join(from, "commands"))))
			if runtime.GOARCH == "amd64" { // on other systems Go itself fuses multiplications and additions
				want := string(contentOf(t, filepath.Join(from, simd.InstructionSet()+".sha256")))
				got := outcomeSums(t, printed)
				if strings.Count(want, "\n") == 2 {
					got = linesOf(got, "  again/")
				}
				require.Equal(t, want, got)
			}
			for _, run := range []string{"run", "again"} {
				requireNear(t, filepath.Join(from, "near", run), run)
			}
		})
	}
	require.Equal(t, 15, seen)
}

func contentOf(t *testing.T, path string) []byte {
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

// runCommands runs one command a line and returns the texts of generate, by the name N.txt for line N.
func runCommands(t *testing.T, lines string) map[string][]byte {
	printed := map[string][]byte{}
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		root, out := newRoot(), new(bytes.Buffer)
		root.SetArgs(strings.Fields(line))
		root.SetOut(out)
		root.SetErr(io.Discard)
		require.NoError(t, root.ExecuteContext(t.Context()), line)
		if strings.HasPrefix(line, "generate ") {
			printed[fmt.Sprintf("%d.txt", i+1)] = continuation(t, line, out.String())
		}
	}
	return printed
}

// continuation returns the text that attention generate appends to its prompt, without the newline at the end. A
// command of the program of commit 900aa4f printed nothing else.
func continuation(t *testing.T, line, printed string) []byte {
	words := strings.Fields(line)
	prompt := words[slices.Index(words, "--prompt")+1]
	text, ok := strings.CutPrefix(printed, prompt)
	require.True(t, ok, "%s: %q", line, printed)
	text, ok = strings.CutSuffix(text, "\n")
	require.True(t, ok, "%s: %q", line, printed)
	return []byte(text)
}

var tokensPerSecond = regexp.MustCompile(`,"tokens_per_second":[^}]*`)

// outcomeSums returns lines like those of sha256sum, for the printed texts, for the model and the metrics (without
// times) of every run, and for every exported file.
func outcomeSums(t *testing.T, files map[string][]byte) string {
	for _, pattern := range []string{"*/model.safetensors", "*/metrics.jsonl", "huggingface/*", "torch/*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			files[filepath.ToSlash(path)] = tokensPerSecond.ReplaceAll(contentOf(t, path), nil)
			if strings.HasSuffix(pattern, "/model.safetensors") {
				files[filepath.ToSlash(path)] = bare(t, path)
			}
		}
	}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} { // which that program did not write
		delete(files, "huggingface/"+name)
	}
	var lines []string
	for name, content := range files {
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return strings.Join(lines, "")
}

// linesOf returns the lines of a text that hold a part.
func linesOf(text, part string) (found string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found += line
		}
	}
	return found
}

// bare returns the model of a run without its seal and its config, because their formats may change.
func bare(t *testing.T, path string) []byte {
	f, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	maps.DeleteFunc(f.Metadata, func(key, _ string) bool { return strings.HasPrefix(key, "about.") || key == "format" })
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, f))
	return b.Bytes()
}

// freeBias matches biases of keys. Such a bias adds a constant to all scores of a query, so its gradients are rounding
// errors. Adam scales them to full steps: 20 steps at a rate of 0.01 add up to 0.2.
var freeBias = regexp.MustCompile(`(W_key|c_attn)\.bias$`)

// requireNear compares a run with the recorded result of plain Go, on any machine. Kernels sum in different orders,
// which moves a float32 weight by up to 5e-6 in these 20 steps and a float64 weight by 3e-16. Texts are not compared,
// since the smallest difference may lead to another token. A model with GPT-2's vocabulary is too large to record.
func requireNear(t *testing.T, want, run string) {
	wantLines, gotLines := metricsOf(t, want+".jsonl"), metricsOf(t, filepath.Join(run, "metrics.jsonl"))
	require.Len(t, gotLines, len(wantLines))
	for i, line := range wantLines {
		for key, value := range line {
			require.InEpsilon(t, value, gotLines[i][key], 1e-4, "%s, line %d, %s", run, i+1, key)
		}
	}
	if _, err := os.Stat(want + ".safetensors"); err != nil {
		return
	}
	wantModel, err := safetensors.ReadFile(want + ".safetensors")
	require.NoError(t, err)
	gotModel, err := safetensors.ReadFile(filepath.Join(run, "model.safetensors"))
	require.NoError(t, err)
	require.Len(t, gotModel.Tensors, len(wantModel.Tensors))
	for i, w := range wantModel.Tensors {
		g := gotModel.Tensors[i]
		require.Equal(t, w.Name, g.Name)
		require.Equal(t, w.Shape, g.Shape, w.Name)
		require.Equal(t, w.DType, g.DType, w.Name)
		switch data := w.Data.(type) {
		case []float32:
			atol := 1e-4
			if freeBias.MatchString(w.Name) {
				atol = 0.2
			}
			golden.Close(t, w.Name, data, g.Data.([]float32), atol, 1e-4)
		case []float64:
			golden.Close(t, w.Name, data, g.Data.([]float64), 1e-12, 1e-12)
		}
	}
}

// metricsOf reads the lines of a metrics.jsonl, without times.
func metricsOf(t *testing.T, path string) (lines []map[string]float64) {
	for text := range bytes.Lines(contentOf(t, path)) {
		var line map[string]float64
		require.NoError(t, json.Unmarshal(text, &line))
		delete(line, "tokens_per_second")
		lines = append(lines, line)
	}
	return lines
}
