package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A folder for transformers has the tensors of its GPT-2, under its names, with biases of 0 if the model has none.
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
		_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
		require.NoError(t, err)

		want := map[string]safetensors.Tensor{}
		for _, x := range tensors {
			x.DType = safetensors.F64
			want[x.Name] = x
		}
		if config["bias"] == false { // the biases of the case with biases, all 0
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

// Default values are written, because other programs have other defaults.
func TestWrittenDefaults(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	c := layers.GPTConfig{VocabSize: 5, ContextLength: 7, EmbedDim: 3, NumLayers: 1, NumHeads: 1,
		TieWordEmbeddings: true, Bias: true}
	m, err := layers.NewGPT(p.Scope(""), c)
	require.NoError(t, err)
	c.Activation, c.Eps = "gelu", 1e-5
	for _, format := range pretrained.Formats() {
		dir := t.TempDir()
		_, err = (&pretrained.GPT{Model: m, Params: p, EndOfText: 2}).Write(dir, pretrained.WriteConfig{Format: format})
		require.NoError(t, err)
		again, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		require.Equal(t, c.Decoder(), again.Model.Config())
		require.Equal(t, 2, again.EndOfText)
		same(t, p, again.Params)
	}
}

// A model whose queries, keys and values have no biases, while other layers do, gets zeros in the folder for
// transformers, which have no such form; for plain PyTorch it is written as it is. A model with biases only there gets
// zeros elsewhere.
func TestWrittenQKVBias(t *testing.T) {
	for _, bias := range []bool{true, false} {
		p := layers.NewParams(tensor.Float32, 1)
		c := layers.GPTConfig{VocabSize: 5, ContextLength: 7, EmbedDim: 4, NumLayers: 1, NumHeads: 2, Bias: bias,
			QKVBias: new(!bias), Initializer: layers.TorchInitializer, Activation: "gelu", Eps: 1e-5}
		m, err := layers.NewGPT(p.Scope(""), c)
		require.NoError(t, err)
		g := &pretrained.GPT{Model: m, Params: p, EndOfText: -1}
		want := run(t, g, []int64{3, 0, 4}, 3)
		for _, format := range pretrained.Formats() {
			dir := t.TempDir()
			_, err = g.Write(dir, pretrained.WriteConfig{Format: format})
			require.NoError(t, err)
			again, err := pretrained.ReadGPT(dir)
			require.NoError(t, err)
			require.Equal(t, want, run(t, again, []int64{3, 0, 4}, 3))
			if format == pretrained.Torch {
				require.Equal(t, c.Decoder(), again.Model.Config())
				same(t, p, again.Params)
			}
		}
	}
}

// Write refuses a folder that is not empty.
func TestWriteRefuses(t *testing.T) {
	g, err := pretrained.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = g.Write(dir, pretrained.WriteConfig{Format: "onnx"})
	require.EqualError(t, err, "pretrained: "+dir+`: format: got "onnx", want one of [huggingface torch]`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
	require.EqualError(t, err, "pretrained: "+dir+": got a folder that is not empty, want a new or empty one")
	killed := t.TempDir() // a file that was being written then
	require.NoError(t, os.WriteFile(filepath.Join(killed, ".tmp-model-00001-of-00002.safetensors123"), nil, 0o644))
	files, err := g.Write(killed, pretrained.WriteConfig{Format: pretrained.Torch})
	require.NoError(t, err)
	require.ElementsMatch(t, files, filesIn(t, killed))
	require.Equal(t, []string{"x"}, filesIn(t, dir))
	_, err = g.Write(filepath.Join(dir, "x"), pretrained.WriteConfig{Format: pretrained.Torch})
	require.ErrorContains(t, err, "x")
}

// PyTorch reads our folders: a GPT-2 in plain PyTorch and model.py of the format torch
// compute our logits, and ReadGPT reads what model.py saves. The test is skipped without a
// Python that has PyTorch; TestWrittenForHuggingFace and TestTorchFolders compare the files
// with stored ones.
func TestPyTorchReadsFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("loading PyTorch takes seconds")
	}
	var models []*pretrained.GPT
	var dirs []string
	for name, config := range cases {
		config = config.with(fields{"embd_pdrop": 0.5}) // must have no effect here
		g, err := pretrained.ReadGPT(write(t, config, caseTensors(t, "torch/gpt.safetensors", name)))
		require.NoError(t, err)
		for _, format := range pretrained.Formats() {
			if name == "gpt_grouped" && format == pretrained.HuggingFace {
				continue
			}
			dir := t.TempDir()
			_, err := g.Write(dir, pretrained.WriteConfig{Format: format})
			require.NoError(t, err)
			models, dirs = append(models, g), append(dirs, dir)
		}
	}
	p := layers.NewParams(tensor.Float64, 1)
	book, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 13, ContextLength: 7, EmbedDim: 12, NumLayers: 2,
		NumHeads: 3, Bias: true, QKVBias: new(false), Initializer: layers.TorchInitializer, Activation: "gelu",
		Eps: 1e-5})
	require.NoError(t, err)
	for _, format := range pretrained.Formats() {
		g, dir := &pretrained.GPT{Model: book, Params: p, EndOfText: -1}, t.TempDir()
		_, err := g.Write(dir, pretrained.WriteConfig{Format: format})
		require.NoError(t, err)
		models, dirs = append(models, g), append(dirs, dir)
	}
	out := filepath.Join(t.TempDir(), "out.safetensors")
	golden.Python(t, "gpt_read.py", append([]string{out, "7,0,12,12,3"}, dirs...)...)

	logits, err := safetensors.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, logits.Tensors, len(models))
	for i, g := range models {
		want, ok := logits.Get(strconv.Itoa(i))
		require.True(t, ok)
		require.Equal(t, []int{5, 13}, want.Shape)
		golden.Close(t, dirs[i], want.Data.([]float64), run(t, g, []int64{7, 0, 12, 12, 3}, 5), 1e-12, 1e-12)
		if again, err := pretrained.ReadGPT(filepath.Join(dirs[i], "again")); err == nil {
			same(t, g.Params, again.Params)
			require.Equal(t, g.Model.Config(), again.Model.Config())
		} else {
			require.NotContains(t, filesIn(t, dirs[i]), "model.py")
		}
	}
}
