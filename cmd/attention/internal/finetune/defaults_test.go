package finetune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The values of the formula in rateOf's source, 5e-5·(2000/E)^0.781 and ten times that, to two digits.
func TestRateOf(t *testing.T) {
	for _, row := range []struct {
		width           int
		adapters, whole float64
	}{
		{128, 4.3e-3, 4.3e-4}, {576, 1.3e-3, 1.3e-4}, {2000, 5e-4, 5e-5}, {4096, 2.9e-4, 2.9e-5}, {8192, 1.7e-4, 1.7e-5},
	} {
		require.InEpsilon(t, row.adapters, rateOf(row.width, true), 1e-12)
		require.InEpsilon(t, row.whole, rateOf(row.width, false), 1e-12)
	}
}

// shaped writes the folder of a Llama of a shape, with random weights in bfloat16.
func shaped(t *testing.T, vocabulary, context, blocks int, a layers.AttentionConfig, hidden int) string {
	a.RoPE = &graph.RoPEConfig{}
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewDecoder(p.Scope(""), layers.DecoderConfig{
		VocabSize: vocabulary, ContextLength: context, NumLayers: blocks, TieWordEmbeddings: true,
		Blocks: []layers.BlockConfig{{Attention: a, Norm: layers.NormConfig{Kind: layers.RMSNorm},
			MLP: layers.MLPConfig{DimFeedforward: hidden, Activation: layers.SwiGLU}}},
	})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "base")
	_, err = (&pretrained.GPT{Model: m, Params: p, EndOfText: 264}).Write(dir,
		pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "bfloat16"})
	require.NoError(t, err)
	tokenizer, err := os.ReadFile(filepath.Join(commandtest.SmallLlama(t), "tokenizer.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), tokenizer, 0o644))
	return dir
}

// rows writes n short examples and returns the file.
func rows(t *testing.T, n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"text": "cat %d"}`+"\n", i)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o600))
	return path
}

// By default rows are as long as the longest example, a batch has no empty row, and there are 100 steps or 3 epochs.
func TestDefaults(t *testing.T) {
	for _, want := range []struct{ examples, context, batch, steps, epochs int }{
		{1, 8, 1, 100, 100}, {3, 8, 3, 100, 100}, {10, 8, 4, 102, 34}, {60, 8, 4, 105, 7}, {200, 8, 4, 150, 3},
	} {
		out := filepath.Join(t.TempDir(), "run")
		said, err := tune(t, "--model", commandtest.SmallLlama(t), "--data", rows(t, want.examples), "--sample", "0",
			"--out", out)
		require.NoError(t, err, said)
		in, err := models.Inspect(out)
		require.NoError(t, err)
		c := in.Config
		require.Equal(t, []int{want.context, want.batch, want.steps, want.epochs},
			[]int{c.Tuning.Context, c.Batch, c.Training.Steps, c.Epochs}, said)
		peak := c.Training.Schedule.Schedule.(train.CosineLR).Peak
		require.InEpsilon(t, rateOf(in.Config.Model.Decoder.Blocks[0].Attention.EmbedDim, true), peak, 1e-12)
		const few = "too few to learn from"
		if want.examples < 10 {
			require.Contains(t, said, few)
		} else {
			require.NotContains(t, said, few)
		}
	}
}

// The head of the output states the actual size of a checkpoint, and the remaining time is printed once.
func TestDiskAndTime(t *testing.T) {
	commandtest.SetClock(t)
	base := shaped(t, 512, 64, 2, layers.AttentionConfig{EmbedDim: 128, NumHeads: 4, NumKVHeads: 2}, 384)
	for _, more := range []string{"--lora=64", "--best", "--lora=0"} {
		out := filepath.Join(t.TempDir(), "run")
		data := rows(t, 12)
		said, err := tune(t, "--model", base, "--data", data, "--valid", data, "--steps", "5", "--out", out, "--lora", "64",
			"--sample", "0", more)
		require.NoError(t, err, said)
		file, err := os.Stat(filepath.Join(out, "checkpoints", "step-00000005.safetensors"))
		require.NoError(t, err)
		found := regexp.MustCompile(`disk +2 checkpoints of ([\d.]+) MB at most`).FindStringSubmatch(said)
		require.NotNil(t, found, said)
		printed, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		require.Greater(t, printed, 4.0)
		require.InEpsilon(t, float64(file.Size())/1e6, printed, 0.02, more) // names among it
		require.Equal(t, 1, strings.Count(said, " left: about "), said)
		// A step takes half a second by the test's clock.
		require.Regexp(t, `(?m)^2 steps left: about 1s, and the validations$`, said)
		require.Contains(t, said, "the training loss is the mean of the last 50 steps")
		require.Contains(t, said, "loss of the last ")
	}
}

// After --resume the first answer is still that of the base. A run that was stopped before its first step continues,
// too.
func TestBeforeIsTheBase(t *testing.T) {
	_, flags := files(t, "--steps", "30", "--eval-every", "0", "--save-every", "10", "--sample", "4")
	dir := filepath.Join(t.TempDir(), "run")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &stopper{at: "folder    ", stop: stop}
	err := commandtest.Run(ctx, out, out, New(), append(flags, "--out", dir)...)
	require.True(t, term.IsInterrupted(err), "%v", err)
	require.ErrorContains(t, err, "finetune --resume "+dir)
	_, err = tune(t, append(flags, "--out", dir)...)
	require.ErrorContains(t, err, "got a folder that is not empty, want a new or empty one; "+
		"to go on with the run that it holds: ")
	require.ErrorContains(t, err, "finetune --resume "+dir)

	before := regexp.MustCompile(`(?m)^before    (.*)$`)
	first, err := tune(t, "--resume", dir)
	require.NoError(t, err, first)
	again, err := tune(t, "--resume", filepath.Join(dir, "checkpoints", "step-00000020.safetensors"))
	require.NoError(t, err)
	after := regexp.MustCompile(`(?m)^after     (.*)$`).FindStringSubmatch(again)
	require.NotEqual(t, before.FindStringSubmatch(first)[1], after[1], "it has learned")
	require.Equal(t, before.FindStringSubmatch(first)[1], before.FindStringSubmatch(again)[1])
}
