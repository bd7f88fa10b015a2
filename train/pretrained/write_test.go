package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A folder for transformers has the tensors of its GPT-2, by its names, and biases of 0 if
// the model has none.
func TestWrittenForHuggingFace(t *testing.T) {
	for name, config := range cases {
		if name == "gpt_grouped" {
			continue
		}
		tensors := caseTensors(t, "torch/gpt.safetensors", name)
		g, err := pretrained.ReadGPT(write(t, config.with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}}),
			tensors))
		require.NoError(t, err)
		dir := t.TempDir()
		_, err = g.Write(dir, pretrained.HuggingFace)
		require.NoError(t, err)

		want := map[string]safetensors.Tensor{}
		for _, x := range tensors {
			x.DType = safetensors.F64
			want[x.Name] = x
		}
		if config["bias"] == false { // the biases of the case with biases, but 0
			for _, x := range caseTensors(t, "torch/gpt.safetensors", "gpt") {
				if strings.HasSuffix(x.Name, ".bias") {
					want[x.Name] = safetensors.Tensor{Name: x.Name, Shape: x.Shape, Data: make([]float64, x.Shape[0]),
						DType: safetensors.F64}
				}
			}
		}
		file, err := safetensors.ReadFile(filepath.Join(dir, "model.safetensors"))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"format": "pt"}, file.Metadata)
		got := map[string]safetensors.Tensor{}
		for _, x := range file.Tensors {
			got[x.Name] = x
		}
		require.Equal(t, want, got)

		text, err := os.ReadFile(filepath.Join(dir, "config.json"))
		require.NoError(t, err)
		wantConfig := fields{
			"model_type": "gpt2", "architectures": []string{"GPT2LMHeadModel"},
			"vocab_size": 13, "n_positions": 11, "n_embd": 12,
			"n_layer": 2, "n_head": 3, "n_inner": config["n_inner"], "activation_function": config["activation_function"],
			"layer_norm_epsilon": 1e-5, "embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1, "scale_attn_weights": true,
			"tie_word_embeddings": config["tie_word_embeddings"] != false, "bias": config["bias"] != false,
			"bos_token_id": nil, "eos_token_id": nil, "torch_dtype": "float64",
			"vocabulary": fields{"tokenizer": "characters", "characters": "abcdefghijklm"},
		}
		wantText, err := json.Marshal(wantConfig)
		require.NoError(t, err)
		require.JSONEq(t, string(wantText), string(text))
	}
}

// Defaults are written out, since those of other programs differ.
func TestWrittenDefaults(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{
		VocabSize: 5, ContextLength: 7, EmbedDim: 3, NumLayers: 1, NumHeads: 1,
		Activation: "gelu_new", TieWordEmbeddings: true, Bias: true})
	require.NoError(t, err)
	for _, format := range pretrained.Formats() {
		dir := t.TempDir()
		_, err = (&pretrained.GPT{Model: m, Params: p, EndOfText: 2}).Write(dir, format)
		require.NoError(t, err)
		again, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		require.Equal(t, layers.GPTConfig{
			VocabSize: 5, ContextLength: 7, EmbedDim: 3, NumLayers: 1, NumHeads: 1,
			Activation: "gelu_new", Eps: 1e-5, TieWordEmbeddings: true, Bias: true}, again.Model.Config())
		require.Equal(t, 2, again.EndOfText)
		same(t, p, again.Params)
	}
}

// Write refuses a folder that is not empty.
func TestWriteRefuses(t *testing.T) {
	g, err := pretrained.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = g.Write(dir, "onnx")
	require.EqualError(t, err, "pretrained: "+dir+`: format: got "onnx", want one of [huggingface torch]`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
	_, err = g.Write(dir, pretrained.Torch)
	require.EqualError(t, err, "pretrained: "+dir+": got a folder that is not empty, want a new or empty one")
	require.Equal(t, []string{"x"}, filesIn(t, dir))
	_, err = g.Write(filepath.Join(dir, "x"), pretrained.Torch)
	require.ErrorContains(t, err, "x")
}
