package finetune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/embed"
	"attention/cmd/attention/internal/export"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/internal/golden"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// letters are pairs of one of 8 letters and a text that begins with the letter 8 places after it; the small encoder has
// letters as tokens.
func letters(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"anchor": "%c", "positive": "%c %c"}`+"\n", 'a'+i%8, 'i'+i%8, 'q'+(i*5+i/8)%10)
	}
	return b.String()
}

// encoderFiles writes pairs, and returns the flags of a run with them on the small encoder of testdata, whose width of 8
// learns nothing with dropout.
func encoderFiles(t *testing.T, more ...string) []string {
	from, err := golden.Path("encoders", "bert")
	require.NoError(t, err)
	base, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(base, os.DirFS(from)))
	config, err := os.ReadFile(filepath.Join(base, "config.json"))
	require.NoError(t, err)
	config = bytes.ReplaceAll(config, []byte(`_prob": 0.1`), []byte(`_prob": 0.0`))
	require.NoError(t, os.WriteFile(filepath.Join(base, "config.json"), config, 0o644))
	for name, content := range map[string]string{"train.jsonl": letters(0, 8*9), "valid.jsonl": letters(8*9, 8*10)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	return append([]string{"--model", base, "--task", "embed", "--data", dir, "--batch", "8", "--lr", "0.01"}, more...)
}

// A run of an encoder learns, prints the measures of held-out pairs before and after, resumes with the same bits, with
// adapters and whole, and its vectors are those of the model that export writes for sentence-transformers.
func TestTuneEncoder(t *testing.T) {
	for name, more := range map[string][]string{"adapters": {"--lora", "4"}, "whole": {"--lora", "0", "--mini-batch", "5"}} {
		t.Run(name, func(t *testing.T) {
			flags := append(encoderFiles(t, "--steps", "200", "--eval-every", "50", "--save-every", "50", "--keep", "9", "--best"), more...)
			dir := t.TempDir()
			whole, stopped, written := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped"), filepath.Join(dir, "written")
			out, err := tune(t, append(flags, "--out", whole)...)
			require.NoError(t, err, out)
			require.Regexp(t, `data +\S+train.jsonl: 72 pairs,\s+504 tokens, in batches of at most 8, 44 % full\n`, out)
			require.Regexp(t, `(?m)^training +200 steps of 8 pairs, 22.2 epochs, learning rate 0.01 at most$`, out)
			require.Regexp(t, `(?m)^8 held-out pairs +before +after$`, out)
			require.Contains(t, out, "attention embed --model "+whole+" --text-file FILE --json")
			r, err := session.ReadReport(whole)
			require.NoError(t, err)
			require.Len(t, r.After, 3)
			require.Equal(t, "recall@1", r.After[0].Name)
			require.Less(t, r.Before[0].Value, 0.3, out)
			require.Greater(t, r.After[0].Value, 0.8, out)

			require.NoError(t, os.CopyFS(stopped, os.DirFS(whole)))
			_, err = tune(t, "--resume", filepath.Join(stopped, "checkpoints", "step-00000050.safetensors"))
			require.NoError(t, err)
			for _, file := range []string{settings.ModelFile, settings.ConfigFile, "checkpoints/step-00000200.safetensors"} {
				want, err := os.ReadFile(filepath.Join(whole, file))
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(stopped, file))
				require.NoError(t, err)
				require.Equal(t, want, got, file)
			}

			said, err := commandtest.Output(t.Context(), export.New(), "--model", whole, "--format", "huggingface",
				"--out", written)
			require.NoError(t, err)
			require.Contains(t, said, "In "+written+": config.json, model.safetensors")
			tuned, base := vectorsOf(t, whole), vectorsOf(t, flags[1])
			golden.Close(t, "vectors", tuned, vectorsOf(t, written), 1e-6, 1e-6)
			require.NotEqual(t, base, tuned)
			readBySentenceTransformers(t, written, tuned)
		})
	}
}

// vectorsOf returns the vectors of some lines by attention embed.
func vectorsOf(t *testing.T, model string) (all []float64) {
	lines := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(lines, []byte("a\nb c\n"), 0o644))
	out, err := commandtest.Output(t.Context(), embed.New(), "--model", model, "--text-file", lines, "--json")
	require.NoError(t, err)
	for line := range strings.Lines(out) {
		var v []float64
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		all = append(all, v...)
	}
	return all
}

// readBySentenceTransformers requires its vector of the last line, where there is a Python with it.
func readBySentenceTransformers(t *testing.T, dir string, want []float64) {
	if testing.Short() {
		return
	}
	t.Run("judge", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out.safetensors")
		golden.Python(t, "encoder_read.py", out, "2,3", "b c", dir)
		f, err := safetensors.ReadFile(out)
		require.NoError(t, err)
		for _, x := range f.Tensors {
			if x.Name == "0.text" {
				got := safetensors.Floats[float64](x.Data)
				golden.Close(t, "vector", got, want[len(want)-len(got):], 1e-6, 1e-6)
				return
			}
		}
		require.Fail(t, "no vector")
	})
}

// Other commands refuse the run of an encoder in a line that names attention embed, and embed other runs.
func TestOtherCommandsOfEncoders(t *testing.T) {
	first := encoderFiles(t, "--steps", "1", "--out", "run")
	t.Chdir(t.TempDir())
	_, err := tune(t, first...)
	require.NoError(t, err)
	in, err := models.Inspect("run")
	require.NoError(t, err)
	const want = "run: got a run of attention finetune of an encoder, want a GPT"
	_, err = in.Open()
	require.ErrorContains(t, err, want)
	_, err = in.GPT()
	require.ErrorContains(t, err, want)
	_, err = in.Spec()
	require.ErrorContains(t, err, want)
	_, flags := files(t, "--steps", "1", "--out", "talks")
	_, err = tune(t, flags...)
	require.NoError(t, err)
	_, err = commandtest.Output(t.Context(), embed.New(), "--model", "talks", "--text-file", flags[1], "--json")
	require.Error(t, err)
	_, err = commandtest.Output(t.Context(), export.New(), "--model", "run", "--format", "gguf", "--out", "out.gguf")
	require.ErrorContains(t, err, want)
	_, err = commandtest.Output(t.Context(), export.New(), "--model", "run", "--format", "torch", "--out", "out")
	require.ErrorContains(t, err, "--format: got torch")
	require.NoFileExists(t, "out")
}

// Wrong pairs are refused in a line that names where they stand, and nothing is written.
func TestWrongPairs(t *testing.T) {
	for _, row := range []struct{ lines, want string }{
		{`{"anchor": "a", "positive": "b"}` + "\n" + `{"anchor": "a"}`, `--data: .*: line 2: positive: got nothing, want a text`},
		{`{"sentence1": "a", "sentence2": "b", "score": NaN}`, `--data: .*: line 1: not JSON: invalid character 'N'`},
		{`{"sentence1": "a", "sentence2": "b", "score": 1}` + "\n\n" + `{"anchor": "a", "positive": "b"}`,
			`--data: .*: line 3: got an anchor and a positive, want two texts and a score as in the first example`},
		{`{"text": "a", "label": "b"}`, `--data: .*: line 1: got no pair of texts, want an anchor and a positive, or`},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(row.lines), 0o644))
		out := filepath.Join(t.TempDir(), "run")
		_, err := tune(t, append(encoderFiles(t), "--data", path, "--out", out)...)
		require.Error(t, err)
		require.Regexp(t, regexp.MustCompile(row.want), err.Error())
		require.NotContains(t, err.Error(), "\n")
		require.NoDirExists(t, out)
	}
	_, flags := files(t, "--data")
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(letters(0, 3)), 0o644))
	_, err := tune(t, append(flags, path)...)
	require.ErrorContains(t, err, "line 1: got a pair of texts, which an encoder learns, want a conversation or a text")
}
