package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/internal/dense"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/metrics"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// tinyGPT are flags for a GPT beside tinyFlags: E 8, H 2, T 6, B 3, two layers.
var tinyGPT = strings.Fields("--model gpt --layers 2 --lr 0.01")

// gptFiles are the files that a run of a GPT leaves in its folder.
var gptFiles = slices.DeleteFunc(slices.Clone(runFiles),
	func(name string) bool { return name == session.AttentionPicture })

// TestTrainGPT trains a GPT with every tokenizer.
func TestTrainGPT(t *testing.T) {
	for _, c := range []struct {
		tokenizer, text string
		vocab           int
		bigram          bool
	}{
		{tokenizer: text.Characters, text: `text\.txt:\s+777 characters,\s+and 87 for validation;\s+28 distinct`, vocab: 28,
			bigram: true},
		{tokenizer: text.Bytes, text: `text\.txt:\s+777 bytes,\s+and 87 for validation;\s+256 in the vocabulary`, vocab: 256,
			bigram: true},
		{tokenizer: text.GPT2, text: `text\.txt:\s+201 tokens,\s+and 23 for validation;\s+50257 in the vocabulary`,
			vocab: 50257},
	} {
		t.Run(c.tokenizer, func(t *testing.T) {
			commandtest.DrawPictures(t)
			folder, printed := tinyRun(t, append(tinyGPT, "--tokenizer", c.tokenizer, "--eval-batches", "2")...)
			require.Equal(t, gptFiles, namesIn(t, folder))
			require.Regexp(t, c.text, printed)
			require.Equal(t, c.bigram, strings.Contains(printed, "bigram"))
			require.Equal(t, c.bigram, strings.Contains(printed, "The validation loss is "))
			require.Contains(t, printed, "A corner of transformer.h.0.attn.c_attn.weight before:")
			require.Contains(t, printed,
				"That of validation is over the whole text, those above over 2 random batches.\n")
			require.Contains(t, printed,
				"/run:\n  model.safetensors, config.json, report.json, metrics.jsonl, watch.jsonl,\n"+
					"  watch.safetensors, loss.png, weights.png, attention-steps.png, checkpoints\n")
			require.NotEmpty(t, sampled(t, printed))
			commandtest.RequirePicture(t, filepath.Join(folder, "loss.png"), lossColors)
			config, err := models.ReadConfig(folder, settings.Train)
			require.NoError(t, err)
			require.Equal(t, layers.GPTConfig{VocabSize: c.vocab, ContextLength: 6, EmbedDim: 8, NumLayers: 2, NumHeads: 2,
				Activation: "gelu_new", Eps: 1e-5, TieWordEmbeddings: true, Bias: true},
				*config.Model.GPT)
			require.Equal(t, c.tokenizer, config.Vocabulary.Name)
			require.Equal(t, c.bigram, config.NGram != nil)
		})
	}
}

// TestTrainGPTReports: the first lines of the output have the size and the memory of the model.
func TestTrainGPTReports(t *testing.T) {
	_, printed := tinyRun(t, append(tinyGPT, "--kv-heads", "1", "--residual-dropout", "0.25", "--dtype", "float64",
		"--batch", "16")...)
	require.Contains(t, printed, `
model     gpt, 2 layers, 2 heads (1 of keys and values), width 8,
          dropout of residuals 0.25, float64: 1888 parameters
          (1840 without those of positions)
`)
	require.Regexp(t, `
memory    weights 0\.0 MB, gradients 0\.0 MB, solver 0\.0 MB, graph 0\.[1-9] MB,
          cache of a text 0\.0 MB
`, printed)
}

// TestTrainGPTResumes: a run that was stopped twice ends like an uninterrupted one. It has dropout, several batches per
// step and evaluations over random batches.
func TestTrainGPTResumes(t *testing.T) {
	dir := t.TempDir()
	text, calm, folder := filepath.Join(dir, "text"), filepath.Join(dir, "calm/run"), filepath.Join(dir, "stopped/run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := func(folder string) []string {
		return append(append(tinyFlags(text, folder), tinyGPT...),
			strings.Fields("--dropout 0.3 --accumulate 3 --keep 1 --eval-batches 4 --tokenizer bytes")...)
	}
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), flags(calm)...))
	stopAfter(t, 5, flags(folder)...)
	stopAfter(t, 10, "--resume", folder)
	require.Contains(t, resume(t, folder), "2 steps in ")
	requireSameOutcome(t, calm, folder)
	before := outcome(t, folder)
	require.Contains(t, resume(t, folder), "0 steps in ")
	require.Equal(t, before, outcome(t, folder))
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer),
		append(flags(filepath.Join(dir, "other")), "--dropout", "0")...))
	require.NotEqual(t, before["model.safetensors"], outcome(t, filepath.Join(dir, "other"))["model.safetensors"])

	config := filepath.Join(folder, settings.ConfigFile)
	for _, c := range []struct{ old, new, want string }{
		{old: `"tokenizer": "bytes"`, new: `"tokenizer": "gpt2"`,
			want: `vocabulary.tokenizer: got "bytes", want the loop's "gpt2"`},
		{old: `"num_heads": 2`, new: `"num_heads": 4`, want: `model.num_heads: got "2", want the loop's "4"`},
		{old: `"num_heads": 2`, new: `"n_heads": 2`, want: `: model: unknown field "n_heads"`},
		{old: `"num_layers": 2`, new: `"num_layers": 0`, want: ": model.num_layers: got 0, want at least 1"},
	} {
		require.NoError(t, os.WriteFile(config, []byte(strings.Replace(before[settings.ConfigFile], c.old, c.new, 1)), 0o644))
		require.ErrorContains(t, trainTo(t.Context(), new(bytes.Buffer), "--resume", folder), c.want)
	}
}

// TestTrainEvaluates: all evaluations use the same random batches, except that the one at the end uses all batches.
func TestTrainEvaluates(t *testing.T) {
	folder, printed := tinyRun(t, append(tinyGPT, "--eval-batches", "2", "--lr", "0", "--min-lr", "0")...)
	losses := map[int][]float64{}
	for _, m := range metricLines(t, folder) {
		if loss, ok := m["validation_loss"]; ok {
			losses[int(m["batches"])] = append(losses[int(m["batches"])], loss)
		}
	}
	require.Len(t, losses[2], 3)
	require.Equal(t, losses[2][0], losses[2][1])
	require.Equal(t, losses[2][0], losses[2][2])
	all, _ := tinyRun(t, append(tinyGPT, "--lr", "0", "--min-lr", "0")...)
	lines := metricLines(t, all)
	require.Equal(t, []float64{lines[len(lines)-1]["validation_loss"]}, losses[0])
	require.NotEqual(t, losses[0][0], losses[2][0])
	require.Regexp(t, fmt.Sprintf(`\n +training +validation .*\n +\S+ +%.4f .*\n`+
		`That of validation is over the whole text, .*\nThe validation loss is not below the bigram's`,
		losses[0][0]), printed)
}

// metricLines returns the lines of metrics.jsonl.
func metricLines(t *testing.T, folder string) (lines []map[string]float64) {
	text, err := os.ReadFile(filepath.Join(folder, metrics.FileName))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var m map[string]float64
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		lines = append(lines, m)
	}
	return lines
}

// TestTrainGPTAsPyTorch: the losses of a hundred steps, through the text in order, are those of
// testdata/torch/gpt_train.py.
func TestTrainGPTAsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/gpt_train.safetensors")
	// The first nine tenths of the text are the golden ids.
	var text strings.Builder
	ids := file.Int64("ids")
	for i := range len(ids)*10/9 + 1 {
		text.WriteByte('a' + byte(ids[i%len(ids)]))
	}
	for _, c := range []struct {
		name, dtype string
		flags       []string
		tol         float64 // rounding errors grow over the steps; the measured differences are 2e-15 and 5e-7
	}{
		{name: "bias", dtype: "float64", tol: 1e-13},
		{name: "plain", dtype: "float32", flags: []string{"--bias=false", "--activation", "gelu"}, tol: 5e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, weights, folder := filepath.Join(dir, "text"), filepath.Join(dir, "weights"), filepath.Join(dir, "run")
			require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o644))
			types := map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64}
			writeGolden(t, weights, file, types[c.dtype], c.name == "plain")
			flags := append(strings.Fields("--model gpt --layers 2 --heads 3 --width 12 --context 7 --batch 5 "+
				"--order sequential --steps 100 --lr 1e-2 --min-lr 1e-3 --warmup 10 --decay-steps 80 --beta2 0.99 "+
				"--weight-decay 0.1 --sample 0 --eval-every 0"), c.flags...)
			flags = append(flags, "--dtype", c.dtype, "--text", path, "--init", weights, "--out", folder)
			require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), flags...))
			var losses []float64
			for _, m := range metricLines(t, folder) {
				if loss, ok := m["loss"]; ok {
					losses = append(losses, loss)
				}
			}
			golden.Close(t, "losses", file.Float64(c.name+"."+c.dtype+".loss"), losses, c.tol, 0)
		})
	}
}

// writeGolden writes the golden weights in a type.
func writeGolden(t *testing.T, path string, file *golden.File, dt tensor.Dtype, plain bool) {
	p := layers.NewBlankParams(dt)
	_, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 13, ContextLength: 7, EmbedDim: 12, NumLayers: 2,
		NumHeads: 3, Bias: !plain, Activation: "gelu_new", TieWordEmbeddings: true})
	require.NoError(t, err)
	for name, v := range p.All() {
		dense.SetFloats(v, file.Float64("weight."+name))
	}
	require.NoError(t, checkpoint.WriteParams(path, p, nil))
}
