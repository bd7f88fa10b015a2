package folder_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/folder"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fields are those of a config.json.
type fields map[string]any

func (f fields) with(others fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, others)
	return all
}

// hub is the config of the cases in gpt.safetensors as transformers would write it.
var hub = fields{
	"model_type": "gpt2", "architectures": []string{"GPT2LMHeadModel"}, "vocab_size": 13, "n_positions": 11, "n_ctx": 11,
	"n_embd": 12, "n_layer": 2, "n_head": 3, "n_inner": nil, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
	"embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.02, "bos_token_id": 50256, "eos_token_id": 50256,
	"summary_type": "cls_index", "task_specific_params": map[string]any{"text-generation": map[string]any{"do_sample": true}},
	"scale_attn_weights": true, "use_cache": true, "transformers_version": "4.29.2",
}

// cases are those of gpt.safetensors that are GPT-2, by their configs.
var cases = map[string]fields{
	"gpt":                hub,
	"gpt_no_bias":        hub.with(fields{"bias": false}),
	"gpt_untied":         hub.with(fields{"tie_word_embeddings": false}),
	"gpt_untied_no_bias": hub.with(fields{"tie_word_embeddings": false, "bias": false}),
	"gpt_gelu":           hub.with(fields{"activation_function": "gelu", "n_inner": 17}),
	"gpt_grouped":        hub.with(fields{"n_head": 6, "n_kv_head": 2, "n_layer": 1}),
}

// caseTensors are the parameters of a case in a file of reference values.
func caseTensors(t testing.TB, file, name string) []safetensors.Tensor {
	f := golden.Load(t, file)
	var all []safetensors.Tensor
	for _, full := range f.Names() {
		if p, ok := strings.CutPrefix(full, name+".param."); ok {
			all = append(all, safetensors.Tensor{Name: p, Shape: f.Shape(full), Data: f.Float64(full)})
		}
	}
	require.NotEmpty(t, all)
	return all
}

// write makes a model folder.
func write(t testing.TB, config any, tensors []safetensors.Tensor) string {
	dir := t.TempDir()
	writeJSON(t, filepath.Join(dir, "config.json"), config)
	require.NoError(t, safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), &safetensors.File{Tensors: tensors}))
	return dir
}

func writeJSON(t testing.TB, path string, v any) {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o644))
}

// run are the logits of a model, of ids in this shape.
func run(t testing.TB, g *folder.GPT, ids []int64, shape ...int) []float64 {
	b := layers.NewBuild(g.Params, layers.Eval)
	in, err := b.InputOf(tensor.Int64, "ids", shape...), b.Err()
	require.NoError(t, err)
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(ids))))
	logits, err := g.Model.Forward(b, in)
	require.NoError(t, err)
	m, err := machine.New(logits)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	if g.Dtype() == tensor.Float64 {
		return logits.Value().Data().([]float64)
	}
	var wide []float64
	for _, v := range logits.Value().Data().([]float32) {
		wide = append(wide, float64(v))
	}
	return wide
}

// same wants equal parameters, bit for bit but for NaN.
func same(t testing.TB, want, got *layers.Params) {
	require.Equal(t, want.Len(), got.Len())
	for name, value := range want.All() {
		other, ok := got.Get(name)
		require.True(t, ok, name)
		require.Equal(t, value.Shape(), other.Shape(), name)
		require.Equal(t, value.Data(), other.Data(), name)
	}
}

// A folder of transformers' GPT-2 gives PyTorch's logits, and survives both formats.
func TestHuggingFaceFolders(t *testing.T) {
	f := golden.Load(t, "torch/gpt.safetensors")
	for name, config := range cases {
		g, err := folder.ReadGPT(write(t, config, caseTensors(t, "torch/gpt.safetensors", name)))
		require.NoError(t, err, name)
		got := run(t, g, f.Int64(name+".ids"), f.Shape(name+".ids")...)
		golden.Close(t, name, f.Float64(name+".out"), got, 1e-12, 1e-12)
		require.Nil(t, g.Tokenizer)
		require.Equal(t, -1, g.EndOfText)
		for _, format := range folder.Formats() {
			dir := filepath.Join(t.TempDir(), "new", "one")
			files, err := g.Write(dir, format)
			if name == "gpt_grouped" && format == folder.HuggingFace {
				require.EqualError(t, err, "folder: "+dir+": n_kv_head: got 2 with n_head 6, want as many: transformers' GPT-2 has no fewer; format torch has")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, filesIn(t, dir), slices.Sorted(slices.Values(files)))
			again, err := folder.ReadGPT(dir)
			require.NoError(t, err)
			same(t, g.Params, again.Params)
			require.Equal(t, g.Model.Config(), again.Model.Config())
		}
	}
}

func filesIn(t testing.TB, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What is written for transformers holds what their GPT-2 has, under its names, and
// biases of 0 where a model has none.
func TestWrittenForHuggingFace(t *testing.T) {
	for name, config := range cases {
		if name == "gpt_grouped" {
			continue
		}
		tensors := caseTensors(t, "torch/gpt.safetensors", name)
		g, err := folder.ReadGPT(write(t, config.with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}}), tensors))
		require.NoError(t, err)
		dir := t.TempDir()
		_, err = g.Write(dir, folder.HuggingFace)
		require.NoError(t, err)

		want := map[string]safetensors.Tensor{}
		for _, x := range tensors {
			x.DType = safetensors.F64
			want[x.Name] = x
		}
		if config["bias"] == false { // those of the case with biases, but 0
			for _, x := range caseTensors(t, "torch/gpt.safetensors", "gpt") {
				if strings.HasSuffix(x.Name, ".bias") {
					want[x.Name] = safetensors.Tensor{Name: x.Name, Shape: x.Shape, Data: make([]float64, x.Shape[0]), DType: safetensors.F64}
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
			"model_type": "gpt2", "architectures": []string{"GPT2LMHeadModel"}, "vocab_size": 13, "n_positions": 11, "n_embd": 12,
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

// Defaults are spelled out, which for other programs are others.
func TestWrittenDefaults(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{Vocab: 5, Context: 7, Width: 3, Layers: 1, NumHeads: 1})
	require.NoError(t, err)
	for _, format := range folder.Formats() {
		dir := t.TempDir()
		_, err = (&folder.GPT{Model: m, Params: p, EndOfText: 2}).Write(dir, format)
		require.NoError(t, err)
		again, err := folder.ReadGPT(dir)
		require.NoError(t, err)
		require.Equal(t, layers.GPTConfig{Vocab: 5, Context: 7, Width: 3, Layers: 1, NumHeads: 1, Activation: "gelu_new", Eps: 1e-5}, again.Model.Config())
		require.Equal(t, 2, again.EndOfText)
		same(t, p, again.Params)
	}
}

// The format torch: what plain PyTorch code with nn.Linear made gives its logits, and is
// written as it was.
func TestTorchFolders(t *testing.T) {
	f := golden.Load(t, "torch/gpt_folder.safetensors")
	for _, name := range []string{"plain", "grouped"} {
		tensors := caseTensors(t, "torch/gpt_folder.safetensors", name)
		g, err := folder.ReadGPT(write(t, json.RawMessage(f.Metadata(name)), tensors))
		require.NoError(t, err, name)
		got := run(t, g, f.Int64(name+".ids"), f.Shape(name+".ids")...)
		golden.Close(t, name, f.Float64(name+".logits"), got, 1e-12, 1e-12)

		dir := t.TempDir()
		_, err = g.Write(dir, folder.Torch)
		require.NoError(t, err)
		file, err := safetensors.ReadFile(filepath.Join(dir, "model.safetensors"))
		require.NoError(t, err)
		for i := range file.Tensors {
			file.Tensors[i].DType = ""
		}
		require.ElementsMatch(t, tensors, file.Tensors)
		text, err := os.ReadFile(filepath.Join(dir, "config.json"))
		require.NoError(t, err)
		require.JSONEq(t, f.Metadata(name), string(text))
	}
}
