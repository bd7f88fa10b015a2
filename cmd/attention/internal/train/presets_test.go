package train

import (
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// numbers returns how many numbers a model learns.
func numbers(t *testing.T, c layers.GPTConfig) int {
	p, err := layers.Declare(layers.NewGPT, c)
	require.NoError(t, err)
	return p.Count()
}

// TestPresets: their models and trainings, in full.
func TestPresets(t *testing.T) {
	o := settled(t, "--preset", "nano-char")
	require.Equal(t, layers.GPTConfig{VocabSize: 65, ContextLength: 64, EmbedDim: 128, NumLayers: 4, NumHeads: 4, Activation: "gelu", Eps: 1e-5, TieWordEmbeddings: true}, o.gptConfig(65))
	require.Equal(t, 804_096, numbers(t, o.gptConfig(65)))
	require.Equal(t, train.Config{Steps: 2000, Accumulate: 1, EvalEvery: 250, StepConfig: train.StepConfig{ClipNorm: 1, Seed: 1,
		Solver:   train.SolverConfig{Name: train.AdamW, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, Decay: train.DecayMatrices},
		Schedule: train.ScheduleConfig{Schedule: train.Cosine{Peak: 1e-3, Floor: 1e-4, WarmupSteps: 100, Steps: 2000}}}}, o.loopConfig())
	require.Equal(t, []any{12, 20, text.Characters, run.RandomOrder}, []any{o.batch, o.evalBatches, o.tokenizer, o.order})

	o = settled(t, "--preset", "gpt2")
	require.Equal(t, layers.GPTConfig{VocabSize: 50257, ContextLength: 1024, EmbedDim: 768, NumLayers: 12, NumHeads: 12, Activation: "gelu_new", Eps: 1e-5, TieWordEmbeddings: true, Bias: true}, o.gptConfig(50257))
	require.Equal(t, 124_439_808, numbers(t, o.gptConfig(50257)))
	require.Equal(t, text.GPT2, o.tokenizer)
	require.NoError(t, o.checkSizes(50257))
	for name := range presets() {
		settled(t, "--preset", name)
	}
}

// TestPresetsBesideFlags: what follows from a flag follows from the one that is given, and
// what is said of a solver is not said of another.
func TestPresetsBesideFlags(t *testing.T) {
	o := settled(t, "--preset", "tiny", "--steps", "40", "--lr", "0.0005")
	require.Equal(t, train.Cosine{Peak: 0.0005, Floor: 0.0005 / 10, WarmupSteps: 2, Steps: 40}, o.loopConfig().Schedule.Schedule)
	o = settled(t, "--preset", "tiny", "--solver", "sgd")
	require.Equal(t, train.SolverConfig{Name: train.SGD, Decay: train.DecayMatrices}, o.loopConfig().Solver)
	require.Equal(t, float64(sgdRate), o.rate)
	o = settled(t, "--preset", "tiny", "--solver", "adamw")
	require.Equal(t, settled(t, "--preset", "tiny"), o)

	file := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"training": {"solver": {"name": "sgd", "momentum": 0.5}, "schedule": {"cosine": {"peak": 0.25}}}}`), 0o644))
	o = settled(t, "--preset", "tiny", "--config", file)
	require.Equal(t, train.SolverConfig{Name: train.SGD, Momentum: 0.5, Decay: train.DecayMatrices}, o.loopConfig().Solver)
	require.Equal(t, 0.25, o.rate)
	o = settled(t, "--config", file, "--solver", "adam")
	require.Equal(t, train.SolverConfig{Name: train.Adam, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: train.DecayMatrices}, o.loopConfig().Solver)
	require.Equal(t, adamRate, o.rate)

	// A part that names no solver is about any.
	require.NoError(t, os.WriteFile(file, []byte(`{"training": {"solver": {"beta1": 0.75}}}`), 0o644))
	require.Equal(t, 0.75, settled(t, "--config", file, "--solver", "adam").beta1)
}
