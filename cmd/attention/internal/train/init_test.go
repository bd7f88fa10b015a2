package train

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// stay are the flags of a run that does not move the weights.
var stay = strings.Fields("--steps 1 --lr 0 --min-lr 0")

// lastLoss returns the last validation loss of a run.
func lastLoss(t *testing.T, dir string) float64 {
	lines := metricLines(t, dir)
	return lines[len(lines)-1]["validation_loss"]
}

// TestTrainInitFolder: the folder of a run, or its export, gives a new run the form, the tokenizer and the weights.
// --init and a config file have the same effect.
func TestTrainInitFolder(t *testing.T) {
	const flags = "--bias=false --activation relu --tokenizer bytes --vocab 260 --hidden 12 --dropout 0.1 --dtype float64"
	first, _ := tinyRun(t, append(tinyGPT, strings.Fields(flags)...)...)
	c, err := models.ReadConfig(first, settings.Train)
	require.NoError(t, err)
	folders := []string{first}
	for _, format := range pretrained.Formats() {
		dir := filepath.Join(t.TempDir(), string(format))
		m, err := commandtest.Inspect(t, first).GPT()
		require.NoError(t, err)
		_, err = m.Write(dir, pretrained.WriteConfig{Format: format})
		require.NoError(t, err)
		require.EqualError(t, trainTo(t.Context(), new(bytes.Buffer), "--resume", dir), "--resume: "+dir+
			": got an exported model, want the folder of a run; to begin a run with its weights: --init "+dir)
		folders = append(folders, dir)
	}
	for _, dir := range folders {
		again := filepath.Join(t.TempDir(), "run")
		flags := append([]string{"--preset", "nano-char", "--text", c.Text.Name, "--batch", "3", "--eval-batches", "0",
			"--warmup", "0", "--decay-steps", "1",
			"--sample", "0", "--init", dir, "--out", again}, stay...)
		require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), flags...))
		got, err := models.ReadConfig(again, settings.Train)
		require.NoError(t, err)
		want := *c.Model.GPT
		want.EmbeddingDropout, want.AttentionDropout, want.ResidualDropout = 0, 0, 0 // the preset's
		require.Equal(t, want, *got.Model.GPT, dir)
		require.Equal(t, "float64", got.Dtype)
		require.Equal(t, c.Vocabulary, got.Vocabulary)
		require.Equal(t, dir, got.Init.Name)
		require.InDelta(t, lastLoss(t, first), lastLoss(t, again), 1e-14)
		// A run that was killed before its first checkpoint begins with the same weights when it is resumed.
		before := outcome(t, again)
		killBeforeCheckpoint(t, again)
		resume(t, again, "--sample", "0")
		require.Equal(t, before, outcome(t, again))
	}
}

// TestTrainInitCrops: a shorter context keeps the first positions, and float32 rounds the weights.
func TestTrainInitCrops(t *testing.T) {
	first, _ := tinyRun(t, append(tinyGPT, "--dtype", "float64")...)
	c, err := models.ReadConfig(first, settings.Train)
	require.NoError(t, err)
	again := filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer),
		append(stay, "--text", c.Text.Name, "--context", "4", "--model", "gpt",
			"--init", first, "--dtype", "float32", "--dropout", "0.1", "--sample", "0", "--out", again)...))
	was, err := safetensors.ReadFile(filepath.Join(first, "model.safetensors"))
	require.NoError(t, err)
	is, err := safetensors.ReadFile(filepath.Join(again, "model.safetensors"))
	require.NoError(t, err)
	require.Len(t, is.Tensors, len(was.Tensors))
	for _, got := range is.Tensors {
		from, _ := was.Get(got.Name)
		values := got.Data.([]float32)
		if strings.HasSuffix(got.Name, "wpe.weight") {
			require.Equal(t, []int{4, 8}, got.Shape)
		} else {
			require.Equal(t, from.Shape, got.Shape)
		}
		for i, v := range values {
			require.Equal(t, float32(from.Data.([]float64)[i]), v, got.Name)
		}
	}
}

func TestTrainInitWrong(t *testing.T) {
	gpt, _ := tinyRun(t, tinyGPT...)
	layer, _ := tinyRun(t)
	c, err := models.ReadConfig(gpt, settings.Train)
	require.NoError(t, err)
	gguf := filepath.Join(t.TempDir(), "model.gguf")
	require.NoError(t, os.WriteFile(gguf, []byte("GGUF"), 0o644))
	for _, r := range []refused{
		{args: "--init " + gpt + " --width 16", want: "--init: " + gpt + ": --width: got 16, want 8, that of the weights"},
		{args: "--init " + gpt + " --heads 4", want: "--init: " + gpt + ": --heads: got 4, want 2, that of the weights"},
		{args: "--init " + gpt + " --kv-heads 1",
			want: "--init: " + gpt + ": --kv-heads: got 1, want 0, that of the weights"},
		{args: "--init " + gpt + " --activation relu",
			want: "--init: " + gpt + ": --activation: got relu, want gelu_new, that of the weights"},
		{args: "--init " + gpt + " --bias=false",
			want: "--init: " + gpt + ": --bias: got false, want true, that of the weights"},
		{args: "--init " + gpt + " --context 7", want: "--init: " + gpt + ": --context: got 7, want 6, that of the weights"},
		{args: "--init " + gpt + " --tokenizer bytes",
			want: "--init: " + gpt + ": model.vocab_size: got 28, want at least the 256 bytes of the tokenizer"},
		{args: "--init " + gpt + " --model layer",
			want: "--init: " + gpt + ": got a folder, want a safetensors file: only --model gpt takes folders"},
		{args: "--init " + layer, want: "--init: " + layer +
			": got a run of attention train of one layer, want a GPT"},
		{args: "--model gpt --init " + gguf, want: "--init: gguf: " + gguf + ": got a file that ends in its head"},
		{args: "--model gpt --init " + layer + "/loss.png", want: "--init: train: parameters: safetensors: "},
		{args: "--model gpt --init " + layer + "/model.safetensors",
			want: "--init: " + layer + "/model.safetensors: --model: got gpt, want layer, that of the weights"},
		{args: "--dtype float64 --init " + layer + "/model.safetensors",
			want: "--init: " + layer + "/model.safetensors: --dtype: got float64, want float32, that of the weights"},
		{args: "--width 12 --init " + layer + "/model.safetensors",
			want: "--init: " + layer + "/model.safetensors: --width: got 12, want 8, that of the weights"},
		{args: "--model gpt --heads 2 --layers 2 --width 16 --context 6 --init " + gpt + "/model.safetensors",
			want: "--init: " + gpt + "/model.safetensors: --width: got 16, want 8, that of the weights"},
	} {
		err := trainTo(t.Context(), new(bytes.Buffer),
			append(strings.Fields(r.args), "--text", c.Text.Name, "--out", filepath.Join(t.TempDir(), "run"))...)
		require.ErrorContains(t, err, r.want, r.args)
	}
}

// TestTrainInitFileOfAnotherForm: a file with weights of the right shapes may belong to a model of another form. The
// metadata of a run's model has the form, wherever the file is. A file without metadata has the form of the config
// beside it.
func TestTrainInitFileOfAnotherForm(t *testing.T) {
	gpt, _ := tinyRun(t, tinyGPT...)
	c, err := models.ReadConfig(gpt, settings.Train)
	require.NoError(t, err)
	text, err := os.ReadFile(c.Text.Name)
	require.NoError(t, err)
	others := filepath.Join(t.TempDir(), "others") // the same number of characters; one of them differs
	require.NoError(t, os.WriteFile(others, bytes.ReplaceAll(text, []byte("q"), []byte("Q")), 0o644))
	own := filepath.Join(gpt, "model.safetensors")
	away := filepath.Join(t.TempDir(), "away.safetensors")
	copyFile(t, own, away)
	foreign := filepath.Join(t.TempDir(), "model.safetensors")
	f, err := safetensors.ReadFile(own)
	require.NoError(t, err)
	require.NoError(t, safetensors.WriteFile(foreign, &safetensors.File{Tensors: f.Tensors}))
	for _, row := range []struct{ text, args, want string }{
		{text: c.Text.Name, args: "--heads 4", want: "--heads: got 4, want 2, that of the weights"},
		{text: c.Text.Name, args: "--heads 2 --activation relu",
			want: "--activation: got relu, want gelu_new, that of the weights"},
		{text: c.Text.Name, args: "--heads 2 --norm-eps 0.1", want: "--norm-eps: got 0.1, want 0.00001, that of the weights"},
		{text: others, args: "--heads 2",
			want: "got other tokens than those of --tokenizer characters and the text's, want the same"},
		{text: c.Text.Name, args: "--heads 2 --dropout 0.5"},
	} {
		for _, file := range []string{own, away, foreign} {
			args := append(strings.Fields("--model gpt --layers 2 --width 8 --context 6 --sample 0 "+row.args), stay...)
			err := trainTo(t.Context(), new(bytes.Buffer),
				append(args, "--text", row.text, "--init", file, "--out", filepath.Join(t.TempDir(), "run"))...)
			if row.want == "" || file == foreign { // which does not tell the form
				require.NoError(t, err, "%s, %s", row.args, file)
			} else {
				require.EqualError(t, err, "--init: "+file+": "+row.want)
			}
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, content, 0o644))
}

// TestTrainInit: a file must hold all weights of the model, as numbers, and no other tensors.
func TestTrainInit(t *testing.T) {
	other, _ := tinyRun(t, "--seed", "5")
	init := filepath.Join(other, "model.safetensors")
	folder, _ := tinyRun(t, "--init", init, "--lr", "0", "--dropout", "0")
	want, err := os.ReadFile(init)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(folder, "model.safetensors"))
	require.NoError(t, err)
	require.Equal(t, want, got)

	spoilt, dir := filepath.Join(t.TempDir(), "spoilt"), t.TempDir()
	text, run := filepath.Join(dir, "text"), filepath.Join(dir, "run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	f, err := safetensors.ReadFile(init)
	require.NoError(t, err)
	f.Tensors[0].Data.([]float32)[0] = float32(math.NaN())
	require.NoError(t, safetensors.WriteFile(spoilt, f))
	err = trainTo(t.Context(), new(bytes.Buffer), append(tinyFlags(text, run), "--init", spoilt)...)
	require.EqualError(t, err,
		"--init: "+spoilt+": parameter "+f.Tensors[0].Name+": has values that are not finite")
	for i := range f.Tensors {
		switch w := &f.Tensors[i]; w.Name {
		case "output.bias":
			w.Name = "output.gain"
		case "tokens.weight":
			w.Shape = []int{8, 28}
		}
	}
	require.NoError(t, safetensors.WriteFile(spoilt, f))
	err = trainTo(t.Context(), new(bytes.Buffer), append(tinyFlags(text, run), "--init", spoilt)...)
	require.EqualError(t, err, "--init: train: parameters: "+spoilt+
		": missing output.bias; unknown output.gain; tokens.weight is float32 (8, 28), want float32 (28, 8)")
	require.NoDirExists(t, run)
}
