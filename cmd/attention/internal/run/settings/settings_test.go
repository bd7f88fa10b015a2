package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/layers"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/text"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// parsed returns the flags of a command line.
func parsed(t testing.TB, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(f, Train)
	require.NoError(t, f.Parse(args))
	return f
}

// settled returns the config of a command line, before it reads its text.
func settled(t testing.TB, args ...string) Config {
	t.Helper()
	s, err := New(parsed(t, args...), nil)
	require.NoError(t, err)
	c, err := s.Config()
	require.NoError(t, err)
	return c
}

// configFile writes a file for --config and returns its path.
func configFile(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A flag overrides the config file, which overrides the preset.
func TestSettingsPrecedence(t *testing.T) {
	file := configFile(t, `{"model": {"type": "gpt", "num_layers": 3, "num_heads": 2, "attention_dropout": 0.25,
		"bias": true, "dim_feedforward": null},
		"training": {"steps": 7, "schedule": {"type": "cosine", "peak": 0.5}}}`)
	c := settled(t, "--preset", "nano-char", "--config", file, "--heads", "1", "--steps", "9")
	require.Equal(t, layers.GPTConfig{ContextLength: 64, EmbedDim: 128, NumLayers: 3, NumHeads: 1, Activation: "gelu",
		Eps: 1e-5, AttentionDropout: 0.25, TieWordEmbeddings: true, Bias: true}, *c.Model.GPT)
	require.Equal(t, []int{9, 250, 12, 20}, []int{c.Training.Steps, c.Training.EvalEvery, c.Batch, c.EvalBatches})
	require.Equal(t, 0.99, c.Training.Solver.Beta2)
	require.Equal(t, train.CosineLR{Peak: 0.5, Floor: 0.05, Steps: 9}, c.Training.Schedule.Schedule)

	c = settled(t, "--config", file, "--dropout", "0.125", "--residual-dropout", "0.5")
	m := c.Model.GPT
	require.Equal(t, []float64{0.125, 0.125, 0.5}, []float64{m.EmbeddingDropout, m.AttentionDropout, m.ResidualDropout})
	require.Equal(t, "gelu_new", m.Activation)

	file = configFile(t, `{"model": {"embed_dim": 8, "attention": {"layer": "causal", "dropout": 0.5}},
		"text": {"name": "built-in"}, "dtype": "float64"}`)
	c = settled(t, "--config", file)
	require.Equal(t, chapter.LanguageModelConfig{ContextLength: 64, EmbedDim: 8,
		Attention: chapter.Config{Layer: "causal", EmbedDim: 8, OutDim: 8, ContextLength: 64, Dropout: 0.5}}, *c.Model.Layer)
	require.True(t, c.Text.Builtin())
	require.Equal(t, "float64", c.Dtype)
}

// A config file may also set values that have no flag.
func TestSettingsWithoutFlag(t *testing.T) {
	file := configFile(t, `{"model": {"embed_dim": 8, "attention": {"out_dim": 16}},
		"training": {"solver": {"decay": "all"}, "schedule": {"type": "constant"}}}`)
	c := settled(t, "--config", file, "--lr", "0.25")
	require.Equal(t, 16, c.Model.Layer.Attention.OutDim)
	require.Equal(t, train.DecayAll, c.Training.Solver.Decay)
	require.Equal(t, train.ConstantRate(0.25), c.Training.Schedule)
	require.Equal(t, train.ConstantRate(adamRate), settled(t, "--config", file).Training.Schedule)
	require.Equal(t, 24, settled(t, "--config", file, "--width", "24").Model.Layer.Attention.OutDim,
		"it follows from the width again")
}

func TestSettingsWrongFile(t *testing.T) {
	const (
		solver = "name, momentum, adjust_lr, nesterov, ns_steps, beta1, beta2, eps, weight_decay, decay"
		fields = "steps, accumulate, solver, schedule, clip_norm, seed, mini_batch_size, eval_every"
	)
	for _, c := range []struct{ reason, text, want string }{
		{reason: "a misspelt field of a gpt", text: `{"model": {"type": "gpt", "n_layers": 3}}`,
			want: `model: unknown field "n_layers"; it has type, vocab_size, `},
		{reason: "of the training", text: `{"training": {"stepz": 3}}`,
			want: `training: unknown field "stepz"; it has ` + fields},
		{reason: "of the solver", text: `{"training": {"solver": {"lr": 3}}}`,
			want: `training.solver: unknown field "lr"; it has ` + solver},
		{reason: "no object", text: `{"training": 3}`, want: "training: got 3, want a JSON object"},
		{reason: "of the run", text: `{"stepz": 3, "num_layers": 3}`,
			want: `unknown field "num_layers", "stepz"; it has format, text, vocabulary, model, `},
		{reason: "of another schedule", text: `{"training": {"schedule": {"type": "constant", "peak": 1}}}`,
			want: `training.schedule: unknown field "peak"; it has type, rate`},
		{reason: "a string", text: `{"training": {"steps": "3"}}`, want: `training.steps: got "3", want a whole number`},
		{reason: "a fraction", text: `{"training": {"steps": 1.5}}`, want: `training.steps: got 1.5, want a whole number`},
		{reason: "a list", text: `{"training": {"steps": [3]}}`, want: `training.steps: got [3], want a whole number`},
		{reason: "true", text: `{"training": {"clip_norm": true}}`, want: `training.clip_norm: got true, want a number`},
		{reason: "a number", text: `{"dtype": 32}`, want: `dtype: got 32, want a string`},
		{reason: "fields of two models", text: `{"model": {"embed_dim": 3, "num_layers": 4}}`,
			want: `model: unknown field "num_layers"; it has type, vocab_size, context_length, embed_dim, attention`},
		{reason: "another format", text: `{"format": 1, "model": {"width": 8}}`,
			want: "format: got 1, want 2: another program wrote the run, and this one does not read it"},
		{reason: "a type", text: `{"model": {"type": "llama"}}`, want: `model.type: got "llama", want one of layer, gpt, decoder`},
		{reason: "a size that contradicts another", text: `{"model": {"embed_dim": 8, "attention": {"embed_dim": 9}}}`,
			want: "model.attention.embed_dim: got 9, want model.embed_dim=8"},
		{reason: "twice", text: `{"training": {"steps": 3, "steps": 4}}`, want: `training: field "steps" comes twice`},
		{reason: "two objects", text: `{} {}`,
			want: "not JSON: invalid character '{' after top-level value, want one JSON object"},
		{reason: "no config", text: `[]`, want: "got [], want a JSON object"},
		{reason: "out of range", text: `{"batch": 0}`, want: "batch: got 0, want at least 1"},
		{reason: "out of range for the width", text: `{"model": {"type": "gpt", "embed_dim": 6}}`, want: "model.num_heads: "},
	} {
		file := configFile(t, c.text)
		s, err := New(parsed(t, "--config", file), nil)
		if err == nil {
			_, err = s.Config()
		}
		if c.reason == "out of range for the width" { // the default is out of range
			require.EqualError(t, err, "--heads: got 4, want a divisor of --width=6", c.reason)
			continue
		}
		require.ErrorContains(t, err, "--config: "+file+": ", c.reason)
		require.ErrorContains(t, err, c.want, c.reason)
		require.NotContains(t, err.Error(), "\n")
	}
}

// An error names the flag if a flag gives the wrong value, and the path in the file if a file does.
func TestSettingsName(t *testing.T) {
	file := configFile(t, `{"model": {"type": "gpt", "embed_dim": 16, "num_heads": 5, "embedding_dropout": 1},
		"batch": 0}`)
	for _, c := range []struct{ args, want string }{
		{args: "", want: "--config: " + file + ": model.embedding_dropout: got 1, want a number from 0 to below 1"},
		{args: "--embedding-dropout 0",
			want: "--config: " + file + ": model.num_heads: got 5, want a divisor of embed_dim=16"},
		{args: "--embedding-dropout 0 --width 24",
			want: "--config: " + file + ": model.num_heads: got 5, want a divisor of embed_dim=24"},
		{args: "--dropout 0 --heads 3", want: "--heads: got 3, want a divisor of --width=16"},
		{args: "--dropout 2 --heads 4", want: "--dropout: got 2, want a number from 0 to below 1"},
		{args: "--dropout 2 --embedding-dropout 3", want: "--embedding-dropout: got 3, want a number from 0 to below 1"},
		{args: "--dropout 0 --heads 4", want: "--config: " + file + ": batch: got 0, want at least 1"},
		{args: "--dropout 0 --heads 4 --batch 0", want: "--batch: got 0, want at least 1"},
		{args: "--dropout 0 --heads 4 --batch 2 --min-lr 1", want: "--min-lr: got 1, want at most --lr=0.001"},
	} {
		s, err := New(parsed(t, append([]string{"--config", file}, strings.Fields(c.args)...)...), nil)
		require.NoError(t, err)
		_, err = s.Config()
		require.EqualError(t, err, c.want, c.args)
	}
}

// The folder of --init gives the model's form and tokenizer. It overrides a preset; a config file overrides it.
func TestSettingsOfInit(t *testing.T) {
	vocabulary, err := text.NewVocabulary("abc")
	require.NoError(t, err)
	spec := Spec{Dtype: tensor.Float32, Tokenizer: vocabulary, Model: ModelConfig{GPT: &layers.GPTConfig{VocabSize: 5,
		ContextLength: 6, EmbedDim: 8, NumLayers: 1, NumHeads: 2, Activation: "relu", Eps: 1e-5, ResidualDropout: 0.5,
		Bias: true}}}
	settled := func(args ...string) Config {
		s, err := New(parsed(t, args...), func(string) (Spec, error) { return spec, nil })
		require.NoError(t, err)
		c, err := s.Config()
		require.NoError(t, err)
		return c
	}
	dir, file := t.TempDir(), configFile(t, `{"model": {"context_length": 4}}`)
	c := settled("--preset", "tiny", "--init", dir, "--config", file)
	require.Equal(t, layers.GPTConfig{VocabSize: 5, ContextLength: 4, EmbedDim: 8, NumLayers: 1, NumHeads: 2,
		Activation: "relu", Eps: 1e-5, Bias: true}, *c.Model.GPT)
	require.Equal(t, vocabulary.Config(), c.Vocabulary)
	require.Equal(t, TextSource{Name: dir}, *c.Init)
	require.Equal(t, 12, c.Batch)
	require.Equal(t, text.TokenizerConfig{Name: text.Characters},
		settled("--init", dir, "--tokenizer", "characters").Vocabulary)
	require.Equal(t, LayerModel, settled("--init", dir, "--model", "layer").Model.Type())
}
