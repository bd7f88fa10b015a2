package settings

import (
	"testing"

	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// numbers returns the number of elements of a model's parameters.
func numbers(t *testing.T, c layers.GPTConfig) int {
	p, err := layers.Declare(layers.NewGPT, c)
	require.NoError(t, err)
	return p.Count()
}

// The models and trainings of presets, in full.
func TestPresets(t *testing.T) {
	c := settled(t, "--preset", "nano-char")
	m := *c.Model.GPT
	m.VocabSize = 65
	require.Equal(t, layers.GPTConfig{VocabSize: 65, ContextLength: 64, EmbedDim: 128, NumLayers: 4, NumHeads: 4,
		Activation: "gelu", Eps: 1e-5, TieWordEmbeddings: true}, m)
	require.Equal(t, 804_096, numbers(t, m))
	require.Equal(t, loop.Config{Steps: 2000, EvalEvery: 250,
		StepConfig: train.StepConfig{Accumulate: 1, ClipNorm: 1, Seed: 1,
			Solver: train.SolverConfig{Name: train.AdamW, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1,
				Decay: train.DecayMatrices},
			Schedule: train.ScheduleConfig{Schedule: train.CosineLR{Peak: 1e-3, Floor: 1e-4, WarmupSteps: 100,
				Steps: 2000}}}}, c.Training)
	require.Equal(t, []any{12, 20, text.Characters, text.RandomOrder},
		[]any{c.Batch, c.EvalBatches, c.Vocabulary.Name, c.Order})

	llama := settled(t, "--preset", "llama-char")
	llama.Model.GPT.VocabSize = 65
	require.Equal(t, Parts{RoPE: true, Norm: layers.RMSNorm, MLP: layers.SwiGLU}, llama.Model.Parts)
	fast := settled(t, "--preset", "speedrun")
	require.Equal(t, Parts{RoPE: true, Norm: layers.RMSNorm, MLP: layers.SwiGLU, QKNorm: layers.RMSNorm}, fast.Model.Parts)
	require.Equal(t, train.SolverConfig{Name: train.Muon, Momentum: 0.75, AdjustLR: train.MatchRMSAdamW, Beta1: 0.9,
		Beta2: 0.999, Eps: 1e-8, Decay: train.DecayMatrices,
		Groups: []train.ParamGroup{{Params: "embed_*", Solver: train.AdamW}}}, fast.Training.Solver)
	require.Equal(t, []text.GrowthStage{{Context: 32, Steps: 90}}, fast.Growth)
	require.Empty(t, settled(t, "--preset", "speedrun", "--context-growth", "none", "--order", "sequential").Growth)
	d, _ := llama.Model.Blocks()
	p, err := layers.Declare(layers.NewDecoder, d)
	require.NoError(t, err)
	require.Equal(t, 800_000, p.Count(), "nano-char without its positions has 795,904")
	llama.Model = c.Model
	require.Equal(t, c, llama, "all but the model is nano-char's")

	c = settled(t, "--preset", "gpt2")
	m = *c.Model.GPT
	m.VocabSize = 50257
	require.Equal(t, layers.GPTConfig{VocabSize: 50257, ContextLength: 1024, EmbedDim: 768, NumLayers: 12, NumHeads: 12,
		Activation: "gelu_new", Eps: 1e-5, TieWordEmbeddings: true, Bias: true}, m)
	require.Equal(t, 124_439_808, numbers(t, m))
	require.Equal(t, text.GPT2, c.Vocabulary.Name)
	c.Model.GPT = &m
	require.NoError(t, c.Validate())

	c = settled(t, "--preset", "book")
	m = *c.Model.GPT
	m.VocabSize = 50257
	require.Equal(t, 163_009_536-(1024-256)*768, numbers(t, m), "the book counts 163,009,536 with a context of 1024")
	require.Equal(t, loop.Config{Steps: 1, EvalEvery: 5, // the text gives the steps
		StepConfig: train.StepConfig{Accumulate: 1, Seed: 123,
			Solver: train.SolverConfig{Name: train.AdamW, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.1,
				Decay: train.DecayAll},
			Schedule: train.ConstantRate(4e-4)}}, c.Training)
	require.Equal(t, []string{"book", "book-small", "gpt2", "llama-char", "nano-char", "speedrun", "tiny"}, presetNames())
	for _, name := range presetNames() {
		settled(t, "--preset", name)
	}
}

// Values that follow from a flag follow from the given one, and a preset's values for one solver do not apply to
// another.
func TestPresetsBesideFlags(t *testing.T) {
	c := settled(t, "--preset", "tiny", "--steps", "40", "--lr", "0.0005")
	require.Equal(t, train.CosineLR{Peak: 0.0005, Floor: 0.0005 / 10, WarmupSteps: 2, Steps: 40},
		c.Training.Schedule.Schedule)
	c = settled(t, "--preset", "tiny", "--solver", "sgd")
	require.Equal(t, train.SolverConfig{Name: train.SGD, Decay: train.DecayMatrices}, c.Training.Solver)
	require.Equal(t, float64(sgdRate), c.Training.Schedule.Schedule.(train.CosineLR).Peak)
	require.Equal(t, settled(t, "--preset", "tiny"), settled(t, "--preset", "tiny", "--solver", "adamw"))

	file := configFile(t, `{"training": {
		"solver": {"name": "sgd", "momentum": 0.5}, "schedule": {"type": "cosine", "peak": 0.25}}}`)
	c = settled(t, "--preset", "tiny", "--config", file)
	require.Equal(t, train.SolverConfig{Name: train.SGD, Momentum: 0.5, Decay: train.DecayMatrices}, c.Training.Solver)
	require.Equal(t, 0.25, c.Training.Schedule.Schedule.(train.CosineLR).Peak)
	c = settled(t, "--config", file, "--solver", "adam")
	require.Equal(t, train.SolverConfig{Name: train.Adam, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: train.DecayMatrices},
		c.Training.Solver)
	require.Equal(t, adamRate, c.Training.Schedule.Schedule.(train.CosineLR).Peak)

	// A part that names no solver applies to any.
	file = configFile(t, `{"training": {"solver": {"beta1": 0.75}}}`)
	require.Equal(t, 0.75, settled(t, "--config", file, "--solver", "adam").Training.Solver.Beta1)
}

// A model of another type replaces a preset's; the preset's training stays.
func TestPresetsBesideAnotherModel(t *testing.T) {
	c := settled(t, "--preset", "tiny", "--model", "layer", "--layer", "causal")
	require.Equal(t, settled(t, "--layer", "causal").Model, c.Model)
	require.Equal(t, settled(t, "--preset", "tiny").Training, c.Training)
}
