package train

import (
	"bytes"
	"context"
	"encoding/json"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/live"
	"attention/internal/safetensors"
	"attention/layers/chapter"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

func init() { commandtest.SketchPictures() }

// trainTo runs attention train as main does, with the output to w.
func trainTo(ctx context.Context, w io.Writer, args ...string) error {
	return commandtest.Run(ctx, w, w, New(), args...)
}

// tinyText has 864 characters; 28 of them are distinct.
var tinyText = strings.Repeat("the quick brown fox jumps over a lazy dog\nand goes on\n", 16)

// tinyRun trains a tiny model on tinyText in a new folder and returns the folder
// and its output.
func tinyRun(t *testing.T, flags ...string) (folder, printed string) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	folder = filepath.Join(dir, "run")
	var out bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &out, append(tinyFlags(text, folder), flags...)...))
	return folder, out.String()
}

// tinyFlags: E 8, H 2, T 6, B 3.
func tinyFlags(text, folder string) []string {
	return strings.Fields("--width 8 --heads 2 --context 6 --batch 3 --steps 12 --eval-every 5 --sample 40 --text " +
		text + " --out " + folder)
}

// tinyShapes are the parameters of a tiny model with 28 tokens and one of the layers.
func tinyShapes(layer string) map[string][]int {
	shapes := map[string][]int{
		"tokens.weight": {28, 8}, "positions.weight": {6, 8}, "output.weight": {28, 8}, "output.bias": {28},
	}
	add := func(shape []int, names ...string) {
		for _, name := range names {
			shapes["attention."+name] = shape
		}
	}
	qkv := []string{"W_query.weight", "W_key.weight", "W_value.weight"}
	switch layer {
	case "self_v1":
		add([]int{8, 8}, "W_query", "W_key", "W_value")
	case "self_v2", "causal":
		add([]int{8, 8}, qkv...)
	case "multi_head_wrapper":
		for _, name := range qkv {
			add([]int{4, 8}, "heads.0."+name, "heads.1."+name)
		}
	case "multi_head":
		add([]int{8, 8}, append(qkv, "out_proj.weight")...)
		add([]int{8}, "out_proj.bias")
	case "additive":
		add([]int{8, 8}, "W_query.weight", "W_key.weight")
		add([]int{1, 8}, "v.weight")
	}
	return shapes
}

// TestTrainLeavesARunFolder: the files of a run folder are well-formed, for every layer.
func TestTrainLeavesARunFolder(t *testing.T) {
	commandtest.DrawPictures(t)
	for _, layer := range chapter.Names() {
		t.Run(layer, func(t *testing.T) {
			folder, printed := tinyRun(t, "--layer", layer)
			require.Equal(t, runFiles, namesIn(t, folder))
			model, err := safetensors.ReadFile(filepath.Join(folder, "model.safetensors"))
			require.NoError(t, err)
			shapes := map[string][]int{}
			for _, p := range model.Tensors {
				shapes[p.Name] = p.Shape
				for _, v := range p.Data.([]float32) {
					require.False(t, math.IsNaN(float64(v)) || math.IsInf(float64(v), 0), p.Name)
				}
			}
			require.Equal(t, tinyShapes(layer), shapes)
			requireMetrics(t, folder)
			commandtest.RequirePicture(t, filepath.Join(folder, "loss.png"), lossColors)
			weights := filepath.Join(folder, "attention.png")
			commandtest.RequirePicture(t, weights, commandtest.WeightColors())
			grey := commandtest.Pixels(t, weights, color.NRGBA{0xc8, 0xc8, 0xc8, 0xff})
			require.Equal(t, (chapter.Config{Layer: layer}).Causal(), grey > 10_000, "hidden cells: %d pixels", grey)
			requireReport(t, printed, folder, shapes)
		})
	}
}

// runFiles are the files that a run leaves in its folder.
var runFiles = []string{"attention-steps.png", "attention.png", "checkpoints", "config.json", "loss.png",
	"metrics.jsonl", "model.safetensors", "report.json", "watch.jsonl", "watch.safetensors", "weights.png"}

func namesIn(t *testing.T, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// requireMetrics requires a line for each of the 12 steps and for the evaluations after steps 5, 10 and 12.
func requireMetrics(t *testing.T, folder string) {
	text, err := os.ReadFile(filepath.Join(folder, "metrics.jsonl"))
	require.NoError(t, err)
	var steps, evaluations []float64
	for line := range strings.Lines(string(text)) {
		var m map[string]float64
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		if loss, ok := m["validation_loss"]; ok {
			require.Len(t, m, 2)
			require.Positive(t, loss)
			evaluations = append(evaluations, m["step"])
			continue
		}
		require.Len(t, m, 5)
		for _, name := range []string{"loss", "learning_rate", "grad_norm", "tokens_per_second"} {
			require.Positive(t, m[name], name)
		}
		steps = append(steps, m["step"])
	}
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, steps)
	require.Equal(t, []float64{5, 10, 12}, evaluations)
}

// requireReport requires the lines of the report without control sequences, since the output is no terminal.
func requireReport(t *testing.T, printed, folder string, shapes map[string][]int) {
	require.NotContains(t, printed, "\r")
	require.NotContains(t, printed, "\x1b")
	for _, line := range []string{
		`text +\S+/text.txt:\s+777 characters,\s+and 87 for validation;\s+28 distinct`,
		`step +training +validation +bigram +unigram +grad norm +tokens/s`,
		` +5( +[0-9.]+){6}`, ` +10( +[0-9.]+){6}`, ` +12( +[0-9.]+){6}`,
		`A corner of \S+ before:`, `and after:`,
		`12 steps in [0-9.]+ s; losses in nats per character:`,
		` +training +validation +bigram +unigram +uniform`, `( +\d\.\d{4}){5}`,
		`The validation loss is .*`,
		`In ` + regexp.QuoteMeta(folder) + `:`,
		`  model.safetensors, config.json, report.json, metrics.jsonl, watch.jsonl,`,
		`  watch.safetensors, loss.png, weights.png, attention-steps.png, attention.png,`, `  checkpoints`,
		`  attention generate --model ` + regexp.QuoteMeta(folder) + ` --prompt TEXT`,
		`  attention view --model ` + regexp.QuoteMeta(folder),
	} {
		require.Regexp(t, "(?m)^"+line+"$", printed)
	}
	require.Equal(t, 2, strings.Count(printed, "tensor([["))
	if _, ok := shapes["attention.W_query.weight"]; ok {
		require.Contains(t, printed, "A corner of attention.W_query.weight before:\ntensor([[")
	}
	for name, shape := range shapes {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` +\(.*\)` + strings.Repeat(` +([0-9.]+)`, 3) +
			`$`).FindStringSubmatch(printed)
		require.NotNil(t, row, "%s %v", name, shape)
		require.NotEqual(t, "0.0000", row[3], name)
	}
	require.Len(t, []rune(sampled(t, printed)), 40)
}

// sampled returns the sample in the output.
func sampled(t *testing.T, printed string) string {
	_, rest, found := strings.Cut(printed, "\nthe model continues:\n\n")
	require.True(t, found)
	sample, _, found := strings.Cut(rest, "\n\nHow far training moved the weights")
	require.True(t, found)
	return sample
}

// TestTrainFolderIsEnough: config.json and model.safetensors are enough to build the model. Its loss equals the last
// one in metrics.jsonl, to the last bit.
func TestTrainFolderIsEnough(t *testing.T) {
	for _, layer := range []string{"multi_head", "self_v2", "additive"} {
		folder, _ := tinyRun(t, "--layer", layer, "--dtype", "float64", "--qkv-bias")
		text, err := os.ReadFile(filepath.Join(folder, "config.json"))
		require.NoError(t, err)
		c, err := models.ReadConfig(folder, settings.Train)
		require.NoError(t, err)
		corpus, err := settings.ReadCorpus(c, nil)
		require.NoError(t, err)
		require.Equal(t, c.Text, corpus.Source)
		require.Equal(t, c.NGram, corpus.NGram)
		require.Equal(t, c.Vocabulary, corpus.Tokenizer.Config())
		r, err := command{live.Command{Out: io.Discard, Flags: New().Flags(), Page: new(live.Page)}}.newTraining(c, corpus)
		require.NoError(t, err)
		_, err = checkpoint.ReadParams(filepath.Join(folder, "model.safetensors"), r.model.Params())
		require.NoError(t, err)
		e, err := r.Loop.Evaluate(t.Context(), r.Validation)
		require.NoError(t, err)

		metrics, err := os.ReadFile(filepath.Join(folder, "metrics.jsonl"))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(metrics)), "\n")
		want := struct {
			Loss float64 `json:"validation_loss"`
		}{}
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &want))
		require.Equal(t, want.Loss, e.Loss, layer)

		other := t.TempDir()
		f, err := session.OpenFolder(other, c.Checkpoints)
		require.NoError(t, err)
		require.NoError(t, f.WriteConfig(c))
		require.NoError(t, f.Close())
		again, err := os.ReadFile(filepath.Join(other, "config.json"))
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	}
}
