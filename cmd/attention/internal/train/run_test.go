package train

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/moved"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestTrainIsRepeatable: the same flags give the same model, pictures and sample, also with dropout. Another seed gives
// others.
func TestTrainIsRepeatable(t *testing.T) {
	flags := []string{"--layer", "causal", "--dropout", "0.3"}
	outcome := func(more ...string) map[string]string {
		folder, printed := tinyRun(t, append(flags, more...)...)
		files := map[string]string{"sample": sampled(t, printed)}
		for _, name := range []string{"model.safetensors", "attention.png", "loss.png"} {
			content, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			files[name] = string(content)
		}
		return files
	}
	first := outcome()
	require.Equal(t, first, outcome())
	for _, other := range [][]string{{"--seed", "2"}, {"--dropout", "0"}} {
		for name, content := range outcome(other...) {
			require.NotEqual(t, first[name], content, "%v: %s", other, name)
		}
	}
}

// TestTrainMovesTheWeights: training moves the seed's initial weights; a learning rate of 0 does not.
func TestTrainMovesTheWeights(t *testing.T) {
	for _, solver := range []string{train.SGD, train.Adam, train.AdamW} {
		for _, rate := range []string{"0.01", "0"} {
			folder, printed := tinyRun(t, "--solver", solver, "--lr", rate)
			model, err := safetensors.ReadFile(filepath.Join(folder, "model.safetensors"))
			require.NoError(t, err)
			c, err := models.ReadConfig(folder, settings.Train)
			require.NoError(t, err)
			p := layers.NewParams(tensor.Float32, 1)
			_, err = c.Model.New(p.Scope(""))
			require.NoError(t, err)
			for name, initial := range p.All() {
				now, ok := model.Get(name)
				require.True(t, ok, name)
				require.Equal(t, rate == "0", slices.Equal(initial.Float32s(), now.Data.([]float32)),
					"%s %s %s", solver, rate, name)
				was, _, _ := moved.Tensor{Before: initial, Now: initial}.Norms()
				require.Contains(t, printed, fmt.Sprintf("  %8.4f  ", was))
			}
			require.Equal(t, map[string]int{"0": p.Len(), "0.01": 0}[rate], strings.Count(printed, "    0.0000\n"))
		}
	}
}

// Only --decay all decays biases.
func TestTrainDecay(t *testing.T) {
	biases := func(flags ...string) []float32 {
		folder, _ := tinyRun(t, append([]string{"--solver", "sgd", "--weight-decay", "0.5", "--seed", "3"}, flags...)...)
		model, err := safetensors.ReadFile(filepath.Join(folder, "model.safetensors"))
		require.NoError(t, err)
		bias, ok := model.Get("output.bias")
		require.True(t, ok)
		return bias.Data.([]float32)
	}
	matrices := biases()
	require.Equal(t, matrices, biases("--decay", "matrices"), "the default")
	require.NotEqual(t, matrices, biases("--decay", "all"))
}

// TestTrainFallsBelowBigram: on the built-in text a shortened default run has a lower loss than a bigram model, with a
// margin that is wide enough for any seed.
func TestTrainFallsBelowBigram(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out a run of 500 steps of the default model")
	}
	var out bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &out, "--steps", "500", "--eval-every", "0",
		"--out", filepath.Join(t.TempDir(), "run")))
	row := regexp.MustCompile(`(?m)^ 500 +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)`).FindStringSubmatch(out.String())
	require.NotNil(t, row)
	var losses [4]float64
	for i := range losses {
		_, err := fmt.Sscan(row[i+1], &losses[i])
		require.NoError(t, err)
	}
	training, validation, bigram, unigram := losses[0], losses[1], losses[2], losses[3]
	require.Less(t, validation, bigram-0.1)
	require.Less(t, training, bigram-0.1)
	require.Less(t, bigram, unigram-0.5)
	require.Contains(t, out.String(), "The validation loss is 0.")
	require.Contains(t, out.String(),
		" below the bigram's: so much has the attention\nlearnt from the characters before the last one.\n")
}

// TestTrainTexts trains on texts other than prose.
func TestTrainTexts(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{name: "line ends of two characters", text: "The cat sat.\r\nThe dog ran.\r\n"},
		{name: "emoji", text: "Hello 😀 wörld 日本語 x ≤ y\n"},
		{name: "byte order mark", text: "\ufeffabc def\n"},
		{name: "terminal codes", text: "\x1b[31mred\x1b[0m\x00"},
		{name: "one character", text: "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "emoji" {
				t.Skip("-short leaves out the texts but one")
			}
			runText(t, c.text)
		})
	}
}

// runText trains on a text that is repeated until it has more than 200 characters.
func runText(t *testing.T, text string) {
	commandtest.DrawPictures(t)
	dir := t.TempDir()
	path := dir + "/text"
	for len([]rune(text)) < 200 {
		text += text
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	var printed bytes.Buffer
	require.NoError(t, trainTo(t.Context(), term.NewScreen(&printed),
		append(tinyFlags(path, dir+"/run"), "--sample", "60")...))
	require.NotContains(t, sampled(t, printed.String()), "\x1b")
	require.NotContains(t, sampled(t, printed.String()), "\r")
	commandtest.RequirePicture(t, dir+"/run/attention.png", commandtest.WeightColors())
}

// TestSettingsOfARun: the config.json of a run, used as a config file, repeats the run for any flags.
func TestSettingsOfARun(t *testing.T) {
	for _, flags := range []string{
		"--model gpt --layers 1 --kv-heads 1 --hidden 5 --activation relu --norm-eps 0.01 --bias=false --tie=false " +
			"--vocab 40 --dropout 0.1 --attention-dropout 0.2 --tokenizer bytes --vocab 300 --eval-batches 2 " +
			"--order sequential",
		"--model gpt --tokenizer characters --accumulate 2 --seed 5 --lr 0.01 --min-lr 0.002 --warmup 3 " +
			"--decay-steps 10 --clip 0.5 --keep 1 --save-every 5",
		"--layer additive --solver sgd --momentum 0.5 --dtype float64 --weight-decay 0.1",
		"--layer multi_head_wrapper --qkv-bias --dropout 0.1 --beta1 0.8 --eps 1e-5",
	} {
		folder, _ := tinyRun(t, strings.Fields(flags)...)
		again := filepath.Join(t.TempDir(), "run") // the pictures contain the name of the run
		require.NoError(t, trainTo(t.Context(), io.Discard, "--config", filepath.Join(folder, settings.ConfigFile),
			"--out", again))
		requireSameOutcome(t, folder, again)
	}
}

// TestSettingsNameAnotherFile: a config file is refused if its text has changed.
func TestSettingsNameAnotherFile(t *testing.T) {
	folder, _ := tinyRun(t, "--tokenizer", "characters")
	c, err := models.ReadConfig(folder, settings.Train)
	require.NoError(t, err)
	config := filepath.Join(folder, settings.ConfigFile)
	require.NoError(t, os.WriteFile(c.Text.Name, []byte(tinyText[1:]), 0o644))
	err = trainTo(t.Context(), new(bytes.Buffer), "--config", config)
	require.ErrorContains(t, err, "--text: "+c.Text.Name+": got a text with SHA-256 ")
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte(tinyText[10:]), 0o644))
	again := filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), "--config", config, "--text", other, "--out", again))
	d, err := models.ReadConfig(again, settings.Train)
	require.NoError(t, err)
	require.Equal(t, c.Vocabulary, d.Vocabulary)
	require.NoError(t, os.WriteFile(other, []byte(strings.Repeat("é", 100)), 0o644))
	err = trainTo(t.Context(), new(bytes.Buffer), "--config", config, "--text", other)
	require.EqualError(t, err, "--text: "+other+
		": text: got 'é' at position 0, want one of the vocabulary's 28 characters")
}

// TestTrainNumbersRuns: without --out each run gets a new folder.
func TestTrainNumbersRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("runs/2", 0o755))
	for _, want := range []string{"runs/1", "runs/3"} {
		var out bytes.Buffer
		require.NoError(t, trainTo(t.Context(), &out, "--steps", "1", "--sample", "0"))
		require.Contains(t, out.String(), "folder    "+filepath.FromSlash(want)+"\n")
		require.FileExists(t, want+"/model.safetensors")
	}
	require.Empty(t, namesIn(t, "runs/2"))
	require.NoError(t, os.RemoveAll("runs"))
	require.NoError(t, os.WriteFile("runs", nil, 0o644))
	require.ErrorContains(t, trainTo(t.Context(), new(bytes.Buffer)), "--out: mkdir runs: ")
}

// TestTrainFromStandardInput: a text from standard input gives the same model as one from a file.
func TestTrainFromStandardInput(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), tinyFlags(text, filepath.Join(dir, "file"))...))
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	var err error
	os.Stdin, err = os.Open(text)
	require.NoError(t, err)
	defer os.Stdin.Close()
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), tinyFlags("-", filepath.Join(dir, "stdin"))...))
	want, got := outcome(t, filepath.Join(dir, "file")), outcome(t, filepath.Join(dir, "stdin"))
	require.Contains(t, got[settings.ConfigFile], `"name": "-"`)
	require.True(t, want[settings.ModelFile] == got[settings.ModelFile])
}

// TestTrainBeginsWhereAKilledOneDidNot: a run can begin in a folder in which another run was killed before it began.
func TestTrainBeginsWhereAKilledOneDidNot(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("run/checkpoints", 0o755))
	for _, left := range []string{"run/checkpoints/lock", "run/.tmp-config.json1"} {
		require.NoError(t, os.WriteFile(left, nil, 0o644))
	}
	require.ErrorContains(t, trainTo(t.Context(), new(bytes.Buffer), "--resume", "run"), "want the folder of a run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), "--steps", "1", "--sample", "0", "--out", "run"))
	require.Equal(t, runFiles, namesIn(t, "run"))

	// A run does not use checkpoints of another run.
	for _, name := range namesIn(t, "run") {
		if name != settings.CheckpointsFolder {
			require.NoError(t, os.Remove(filepath.Join("run", name)))
		}
	}
	require.EqualError(t, trainTo(t.Context(), new(bytes.Buffer), "--out", "run"),
		"--out: run: got a folder that is not empty, want a new or empty one")
}
