package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// letters are pairs of one of 8 letters and a text that begins with the 8th letter after it; the small encoder has
// letters as tokens.
func letters(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"anchor": "%c", "positive": "%c %c"}`+"\n", 'a'+i%8, 'i'+i%8, 'q'+(i*5+i/8)%10)
	}
	return b.String()
}

// tune runs attention finetune.
func tune(t *testing.T, args ...string) (string, error) {
	printed, notes, err := attention(t, append([]string{"finetune"}, args...)...)
	return printed + notes, err
}

// encoderFiles writes pairs, and returns the flags of a run with them on the small encoder of testdata, whose width of
// 8 learns nothing with dropout.
func encoderFiles(t *testing.T, more ...string) []string {
	from, err := golden.Path("encoders", "bert")
	require.NoError(t, err)
	base, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(base, os.DirFS(from)))
	config, err := os.ReadFile(filepath.Join(base, "config.json"))
	require.NoError(t, err)
	config = bytes.ReplaceAll(config, []byte(`_prob": 0.1`), []byte(`_prob": 0.0`))
	require.NoError(t, os.WriteFile(filepath.Join(base, "config.json"), config, 0o644))
	for name, content := range map[string]string{"train.jsonl": letters(0, 8*9),
		"valid.jsonl": letters(8*9, 8*10)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	return append([]string{"--model", base, "--task", "embed", "--data", dir, "--batch", "8", "--lr", "0.01"}, more...)
}

// A run of an encoder learns, prints the measures of held-out pairs before and after, resumes with the same bits, with
// adapters and whole, and its vectors are those of the model that export writes for sentence-transformers.
func TestTuneEncoder(t *testing.T) {
	for name, more := range map[string][]string{"adapters": {"--lora", "4"},
		"whole": {"--lora", "0", "--mini-batch", "5"}} {
		t.Run(name, func(t *testing.T) {
			flags := append(encoderFiles(t, "--steps", "200", "--eval-every", "50", "--save-every", "50",
				"--keep", "9", "--best"), more...)
			dir := t.TempDir()
			whole, stopped, written := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped"), filepath.Join(dir, "written")
			out, err := tune(t, append(flags, "--out", whole)...)
			require.NoError(t, err, out)
			require.Regexp(t, `data +\S+train.jsonl: 72 examples,\s+504 tokens, in batches of at most 8, 44 % full\n`, out)
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

			said, _, err := attention(t, "export", "--model", whole, "--format", "huggingface",
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
	out, _, err := attention(t, "embed", "--model", model, "--text-file", lines, "--json")
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

// Other commands refuse the run of an encoder with one line that names attention embed, and embed refuses other runs.
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
	_, err = tune(t, append(first, "--model", "run", "--out", "again")...)
	require.ErrorContains(t, err, "run: got a run of attention finetune, want the whole model; write it with: ")
	_, err = tune(t, append(first, "--context", "2", "--out", "again")...)
	require.ErrorContains(t, err, "--context: got 2, want more than the 2 special tokens of each text")
	_, err = tune(t, append(first, "--task", "answer", "--out", "again")...)
	require.ErrorContains(t, err, "--task: got answer with an encoder, want one of classify, embed, mask, rank, tag")
	_, _, err = attention(t, "export", "--model", "run", "--format", "gguf", "--out", "out.gguf")
	require.ErrorContains(t, err, want)
	_, _, err = attention(t, "export", "--model", "run", "--format", "torch", "--out", "out")
	require.ErrorContains(t, err, "--format: got torch")
	require.NoFileExists(t, "out")
	smallAdapter(t)
	_, _, err = attention(t, "embed", "--model", "tuned", "--text-file", "cats.jsonl", "--json")
	require.Error(t, err)
}

// A run learns the order of the scores of pairs, also in mini-batches, and prints its measures before and after.
func TestTuneEncoderScores(t *testing.T) {
	var b strings.Builder
	for i := range 16 {
		fmt.Fprintf(&b, `{"sentence1": "%c", "sentence2": "%c", "score": %d}`+"\n", 'a'+i%4, 'i'+i/4, (i%4*3+i/4*5)%7)
	}
	data, run := filepath.Join(t.TempDir(), "scores.jsonl"), filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.WriteFile(data, []byte(b.String()), 0o644))
	out, err := tune(t, encoderFiles(t, "--data", data, "--valid", data, "--batch", "16", "--mini-batch", "8",
		"--steps", "100", "--lora", "0", "--out", run)...)
	require.NoError(t, err, out)
	r, err := session.ReadReport(run)
	require.NoError(t, err)
	require.Len(t, r.After, 1)
	require.Equal(t, "Spearman", r.After[0].Name)
	require.Greater(t, r.After[0].Value, 0.9, out)
	require.Less(t, r.Before[0].Value, 0.6, out)
}

// The error about wrong pairs is one line that names their position, and nothing is written.
func TestWrongPairs(t *testing.T) {
	for _, row := range []struct{ lines, want, task string }{
		{`{"anchor": "a", "positive": "b"}` + "\n" + `{"anchor": "a"}`, `line 2: positive: got nothing`, "embed"},
		{`{"sentence1": "a", "sentence2": "b", "score": NaN}`, `line 1: not JSON: invalid character 'N'`, "embed"},
		{`{"sentence1": "a", "sentence2": "b", "score": 1}` + "\n\n" + `{"anchor": "a", "positive": "b"}`,
			`line 3: got an anchor and a positive, want two texts and a score as in the first example`, "embed"},
		{`{"text": "a", "label": "b"}`, `line 1: got no pair of texts, want an anchor and a positive, or`, "embed"},
		{`{"anchor": "a", "positive": "b"}`, `line 1: got no text, want one`, "mask"},
		{`{"text": "a", "label": "b"}` + "\n" + `{"text": "a"}`, `line 2: got an example without a label`, "classify"},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(row.lines), 0o644))
		out := filepath.Join(t.TempDir(), "run")
		_, err := tune(t, append(encoderFiles(t), "--data", path, "--out", out, "--task", row.task)...)
		require.Error(t, err)
		require.Regexp(t, "^--data: .*: "+row.want, err.Error())
		require.NotContains(t, err.Error(), "\n")
		require.NoDirExists(t, out)
	}
	dir, labels := t.TempDir(), `{"text": "a", "label": "c"}`+"\n"+`{"text": "a", "label": "b"}`
	other := strings.Replace(labels, `"b"`, `"d"`, 1)
	for name, content := range map[string]string{"train.jsonl": labels, "valid.jsonl": other} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	_, err := tune(t, append(encoderFiles(t), "--data", dir, "--task", "classify")...)
	require.ErrorContains(t, err, `valid.jsonl: line 2: label: got "d", want one of the 2 that are learned`)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(letters(0, 3)), 0o644))
	_, err = tune(t, "--model", commandtest.SmallLlama(t), "--data", path)
	require.ErrorContains(t, err, "line 1: got texts or words for an encoder, want a conversation or a text")
}

// An encoder learns classes, with adapters and whole: the run prints how many held-out texts are classified correctly
// before and after, classify predicts the same classes, and so does the exported folder.
func TestTuneEncoderClasses(t *testing.T) {
	flags := encoderFiles(t, "--task", "classify", "--steps", "60", "--eval-every", "30")
	var b strings.Builder
	for i := range 24 {
		fmt.Fprintf(&b, `{"text": "%c %c", "label": "%s"}`+"\n", 'a'+i%8, 'a'+(i*5+3)%8, []string{"even", "odd"}[i%2])
	}
	data := filepath.Join(t.TempDir(), "classes.jsonl")
	require.NoError(t, os.WriteFile(data, []byte(b.String()), 0o644))
	for _, lora := range []string{"0", "4"} {
		dir := t.TempDir()
		run, written := filepath.Join(dir, "run"), filepath.Join(dir, "written")
		out, err := tune(t, append(flags, "--data", data, "--valid", data, "--lora", lora, "--out", run)...)
		require.NoError(t, err, out)
		require.Regexp(t, `24 held-out texts +before +after\naccuracy +0\.\d+ +1\.0000\n\nOf the held-out texts 24 of`, out)
		require.Contains(t, out, "attention classify --model "+run)
		_, _, err = attention(t, "export", "--model", run, "--format", "huggingface", "--out", written)
		require.NoError(t, err)
		for i, model := range []string{run, written} {
			got, _, err := attention(t, "classify", "--model", model, "--text", "a d", "--text", "b a")
			require.NoError(t, err)
			require.Regexp(t, `(?m)^even 0\.\d+  odd 0\.\d+  a d\nodd 0\.\d+  even 0\.\d+  b a$`, got)
			require.True(t, i == 0 || got == out, "%s", out)
			out = got
		}
	}
}

// An encoder learns to predict masked tokens in lines of a text, with the head of its folder or a new one, and its
// vectors and the head are exported.
func TestTuneEncoderMask(t *testing.T) {
	for name, lora := range map[string]string{"bert": "4", "bert_head": "0"} {
		flags, dir := encoderFiles(t, "--task", "mask", "--steps", "150", "--eval-every", "50",
			"--lora", lora), t.TempDir()
		if name == "bert_head" {
			base, err := golden.Path("encoders", name)
			require.NoError(t, err)
			flags = append(flags, "--model", base)
		}
		lines := filepath.Join(dir, "lines.txt")
		require.NoError(t, os.WriteFile(lines, []byte(strings.Repeat("a b c d e f g\n\nh i j k\n", 8)), 0o644))
		run, written := filepath.Join(dir, "run"), filepath.Join(dir, "written")
		out, err := tune(t, append(flags, "--data", lines, "--valid", lines, "--out", run)...)
		require.NoError(t, err, out)
		require.Regexp(t, `(?m)^16 held-out texts +before +after\nmasked loss +\d\.\d+ +\d\.\d+\n`, out)
		r, err := session.ReadReport(run)
		require.NoError(t, err)
		require.InDelta(t, *r.Losses.Validation, r.After[0].Value, 1e-9)
		require.Less(t, r.After[0].Value, r.Before[0].Value-0.5, out)
		_, _, err = attention(t, "export", "--model", run, "--format", "huggingface", "--out", written)
		require.NoError(t, err)
		golden.Close(t, "vectors", vectorsOf(t, run), vectorsOf(t, written), 1e-6, 1e-6)
		_, err = pretrained.OpenMaskedLM(written)
		require.NoError(t, err)
	}
}
