package commandtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/layers/chapter"
	"attention/train/checkpoint"
	"attention/train/pretrained"
	"attention/train/tasks/dates"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// SmallGPT returns a GPT of characters that generates varied text.
func SmallGPT(t testing.TB) *pretrained.GPT { return LongGPT(t, 40) }

// LongGPT returns SmallGPT with a window of another length.
func LongGPT(t testing.TB, context int) *pretrained.GPT {
	vocabulary, err := text.NewVocabulary("abcdefg éü\n")
	require.NoError(t, err)
	p := layers.NewParams(tensor.Float32, 7)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{
		VocabSize: vocabulary.Len() + 2, ContextLength: context, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
		Activation: "gelu_new", TieWordEmbeddings: true, Bias: true})
	require.NoError(t, err)
	for _, v := range p.All() {
		for i := range v.Float32s() {
			v.Float32s()[i] *= 6
		}
	}
	return &pretrained.GPT{Model: m, Params: p, Tokenizer: vocabulary, EndOfText: -1}
}

// WriteGPT writes a GPT to a new folder and returns its path.
func WriteGPT(t testing.TB, g *pretrained.GPT) string {
	dir := filepath.Join(t.TempDir(), "model")
	_, err := g.Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
	require.NoError(t, err)
	return dir
}

// LayerRun writes the folder of a run whose model has one attention layer.
func LayerRun(t testing.TB, layer string) (dir string, p *layers.Params, m *chapter.LanguageModel) {
	c := chapter.LanguageModelConfig{VocabSize: 5, ContextLength: 6, EmbedDim: 4,
		Attention: chapter.Config{Layer: layer, EmbedDim: 4, OutDim: 4, NumHeads: 2}}
	if layer == "additive" {
		c.Attention.QueryDim, c.Attention.KeyDim, c.Attention.AttnDim = 4, 4, 3
	}
	if layer == "multi_head" {
		c.Attention.ContextLength = 6
	}
	p = layers.NewParams(tensor.Float64, 3)
	m, err := chapter.NewLanguageModel(p.Scope(""), c)
	require.NoError(t, err)
	return writeRun(t, p, configOf(settings.ModelConfig{Layer: &c})), p, m
}

// DecoderRun writes the folder of a run whose model is a decoder of five layers of four kinds: with grouped heads that
// rotary positions turn, with heads that have a window, a sink and gates, with latent attention, and with sigmoids.
func DecoderRun(t testing.TB) (dir string, p *layers.Params, m *layers.Decoder) {
	return DecoderRunOf(t, `{"vocab_size": 5, "context_length": 6, "num_layers": 5, "pattern": [0, 1, 0, 2, 3],
		"embedding_scale": 3, "logit_softcap": 20, "blocks": [
		{"attention": {"embed_dim": 8, "num_heads": 4, "num_kv_heads": 2, "rope": {}}, "mlp": {"activation": "swiglu"},
		 "norm": {"kind": "rms"}, "norm_placement": "sandwich"},
		{"attention": {"embed_dim": 8, "num_heads": 2, "sinks": true, "softcap": 3, "qk_norm": "rms",
		 "mask": {"type": "sliding_window", "left": 1}, "forget": true}, "norm": {"kind": "rms"}},
		{"attention": {"embed_dim": 8, "num_heads": 4, "latent": {"kv_lora_rank": 5, "v_head_dim": 3}},
		 "norm": {"kind": "rms"}},
		{"attention": {"embed_dim": 8, "num_heads": 2, "rope": {}, "forget": true, "sigmoid": true, "sigmoid_bias": -2},
		 "norm": {"kind": "rms"}}
		]}`)
}

// DecoderRunOf writes the folder of a run whose model is a decoder with a config in JSON.
func DecoderRunOf(t testing.TB, config string) (dir string, p *layers.Params, m *layers.Decoder) {
	var c layers.DecoderConfig
	require.NoError(t, json.Unmarshal([]byte(config), &c))
	p = layers.NewParams(tensor.Float64, 3)
	m, err := layers.NewDecoder(p.Scope(""), c)
	require.NoError(t, err)
	for _, v := range p.All() {
		for i := range v.Float64s() {
			v.Float64s()[i] *= 6
		}
	}
	return writeRun(t, p, configOf(settings.ModelConfig{Decoder: &c})), p, m
}

// DatesRun writes the folder of a run of attention translate whose model has weights times a factor.
func DatesRun(t testing.TB, size dates.Config, seed int64, factor float32) (dir string, m *dates.Model) {
	c := settings.Config{Format: settings.Format, Batch: 3, Model: settings.ModelConfig{Dates: &settings.Dates{
		Config: size, Written: dates.WrittenCharacters, ISO: dates.ISOCharacters}}}
	c.Training.Steps, c.Training.Seed = 1, seed
	m, err := c.NewDates()
	require.NoError(t, err)
	for _, v := range m.Params().All() {
		for i := range v.Float32s() {
			v.Float32s()[i] *= factor
		}
	}
	return writeRun(t, m.Params(), c), m
}

// configOf returns the config of a run of a model of five characters.
func configOf(c settings.ModelConfig) any {
	return map[string]any{
		"format": settings.Format,
		"text":   map[string]any{"name": "x"}, "vocabulary": map[string]any{"characters": "abcde"},
		"model": c, "dtype": "float64", "batch": 3,
	}
}

// writeRun writes the folder of a run.
func writeRun(t testing.TB, p *layers.Params, config any) (dir string) {
	dir = t.TempDir()
	require.NoError(t, checkpoint.WriteParams(filepath.Join(dir, "model.safetensors"), p, nil))
	text, err := json.Marshal(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
	return dir
}

// Inspect returns what a folder holds.
func Inspect(t testing.TB, dir string) *models.Inspection {
	in, err := models.Inspect(dir)
	require.NoError(t, err)
	return in
}
