package pretrained_test

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
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fields holds the fields of a config.json.
type fields map[string]any

func (f fields) with(others fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, others)
	return all
}

// hub is the config of the cases in gpt.safetensors in the form of transformers.
var hub = fields{
	"model_type": "gpt2", "architectures": []string{"GPT2LMHeadModel"}, "vocab_size": 13, "n_positions": 11, "n_ctx": 11,
	"n_embd": 12, "n_layer": 2, "n_head": 3, "n_inner": nil, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
	"embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.02,
	"bos_token_id": 50256, "eos_token_id": 50256, "scale_attn_weights": true, "use_cache": true,
	"summary_type": "cls_index", "transformers_version": "4.29.2",
	"task_specific_params": map[string]any{"text-generation": map[string]any{"do_sample": true}},
}

// cases maps the GPT-2 cases in gpt.safetensors to their configs.
var cases = map[string]fields{
	"gpt":                hub,
	"gpt_no_bias":        hub.with(fields{"bias": false}),
	"gpt_untied":         hub.with(fields{"tie_word_embeddings": false}),
	"gpt_untied_no_bias": hub.with(fields{"tie_word_embeddings": false, "bias": false}),
	"gpt_gelu":           hub.with(fields{"activation_function": "gelu", "n_inner": 17}),
	"gpt_grouped":        hub.with(fields{"n_head": 6, "n_kv_head": 2, "n_layer": 1}),
}

// caseTensors returns the parameters of a case in a file of reference values.
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

// write returns a new model folder.
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

// run returns a model's logits of ids of a shape.
func run(t testing.TB, g *pretrained.GPT, ids []int64, shape ...int) []float64 {
	b := layers.NewBuild(g.Params, layers.Eval)
	in, err := b.InputOf(tensor.Int64, "ids", shape...), b.Err()
	require.NoError(t, err)
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(ids))))
	logits, err := g.Model.Forward(b, in)
	require.NoError(t, err)
	m, err := machine.New(logits)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	return golden.Floats(t, logits.Value())
}

// same requires parameters that are equal bit for bit, except that any NaNs are equal.
func same(t testing.TB, want, got *layers.Params) {
	require.Equal(t, want.Len(), got.Len())
	for name, value := range want.All() {
		other, ok := got.Get(name)
		require.True(t, ok, name)
		require.Equal(t, value.Shape(), other.Shape(), name)
		require.Equal(t, value.Data(), other.Data(), name)
	}
}

// A GPT-2 of transformers has PyTorch's logits, both as read and after it was written in each format.
func TestHuggingFaceFolders(t *testing.T) {
	f := golden.Load(t, "torch/gpt.safetensors")
	for name, config := range cases {
		g, err := pretrained.ReadGPT(write(t, config, caseTensors(t, "torch/gpt.safetensors", name)))
		require.NoError(t, err, name)
		got := run(t, g, f.Int64(name+".ids"), f.Shape(name+".ids")...)
		golden.Close(t, name, f.Float64(name+".out"), got, 1e-12, 1e-12)
		require.Nil(t, g.Tokenizer)
		require.Equal(t, -1, g.EndOfText)
		for _, format := range pretrained.Formats() {
			dir := filepath.Join(t.TempDir(), "new", "one")
			files, err := g.Write(dir, pretrained.WriteConfig{Format: format})
			if name == "gpt_grouped" && format == pretrained.HuggingFace {
				require.EqualError(t, err,
					"pretrained: "+dir+": n_kv_head: got 2 with n_head 6, want as many: "+
						"transformers' GPT-2 has no fewer; format torch has")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, filesIn(t, dir), slices.Sorted(slices.Values(files)))
			again, err := pretrained.ReadGPT(dir)
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

// A model of plain PyTorch code with nn.Linear, in format torch, has PyTorch's logits and is
// written unchanged.
func TestTorchFolders(t *testing.T) {
	f := golden.Load(t, "torch/gpt_folder.safetensors")
	for _, name := range []string{"plain", "grouped"} {
		tensors := caseTensors(t, "torch/gpt_folder.safetensors", name)
		g, err := pretrained.ReadGPT(write(t, json.RawMessage(f.Metadata(name)), tensors))
		require.NoError(t, err, name)
		got := run(t, g, f.Int64(name+".ids"), f.Shape(name+".ids")...)
		golden.Close(t, name, f.Float64(name+".logits"), got, 1e-12, 1e-12)

		dir := t.TempDir()
		_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
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

// gpt returns the weights of the plain case.
func gpt(t testing.TB) []safetensors.Tensor { return caseTensors(t, "torch/gpt.safetensors", "gpt") }

// float32s returns the tensors in float32, in which these reference values are exact.
func float32s(t testing.TB, tensors []safetensors.Tensor) []safetensors.Tensor {
	f := golden.Load(t, "torch/gpt.safetensors")
	for i, x := range tensors {
		tensors[i].Data = f.Float32("gpt.param." + x.Name)
	}
	return tensors
}

// without returns a good folder without one of its files.
func without(t testing.TB, name string) string {
	dir := write(t, hub, gpt(t))
	require.NoError(t, os.Remove(filepath.Join(dir, name)))
	return dir
}

// Folders of all kinds give the same model.
func TestKindsOfFolders(t *testing.T) {
	want, err := pretrained.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	wte := gpt(t)[0]
	require.Equal(t, "transformer.wte.weight", wte.Name)
	for name, dir := range map[string]string{
		"no prefix, buffers": write(t, hub, append(renamed(gpt(t)),
			safetensors.Tensor{Name: "h.0.attn.bias", Shape: []int{1, 1, 11, 11}, Data: make([]float32, 121)},
			safetensors.Tensor{Name: "h.1.attn.bias", Shape: []int{1, 1, 11, 11}, Data: make([]bool, 121)},
			safetensors.Tensor{Name: "h.1.attn.masked_bias", Data: []float32{-1e4}})),
		"tied head": write(t, hub, append(gpt(t),
			safetensors.Tensor{Name: "lm_head.weight", Shape: wte.Shape, Data: wte.Data})),
		"shards": sharded(t, gpt(t)),
	} {
		got, err := pretrained.ReadGPT(dir)
		require.NoError(t, err, name)
		same(t, want.Params, got.Params)
		require.Equal(t, want.Model.Config(), got.Model.Config())
	}

	got, err := pretrained.ReadGPT(write(t, hub, float32s(t, gpt(t))))
	require.NoError(t, err)
	require.Equal(t, tensor.Float32, got.Dtype())
	f := golden.Load(t, "torch/gpt.safetensors")
	golden.Close(t, "float32", f.Float64("gpt.out"), run(t, got, f.Int64("gpt.ids"), 2, 7), 1e-5, 1e-5)
	dir := t.TempDir()
	_, err = got.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	require.NoError(t, err)
	came, err := json.Marshal(hub)
	require.NoError(t, err)
	require.JSONEq(t, string(came), string(text), "as it came in")
	dir = t.TempDir()
	got = &pretrained.GPT{Model: got.Model, Params: got.Params, EndOfText: -1}
	_, err = got.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.NoError(t, err)
	text, err = os.ReadFile(filepath.Join(dir, "config.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"torch_dtype": "float32"`)
}

// A spec is read without the weights.
func TestReadSpec(t *testing.T) {
	config := hub.with(fields{"n_inner": 48, "vocabulary": fields{"characters": "abcdefghijklm"}})
	dir := write(t, config, gpt(t))
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	want := pretrained.Spec{Config: g.Model.Config(), Dtype: tensor.Float64, Tokenizer: g.Tokenizer}
	spec, err := specOf(dir)
	require.NoError(t, err)
	require.Equal(t, want, spec)

	head := safetensors.Tensor{Name: "lm_head.weight", Shape: []int{13, 12}, Data: make([]float64, 156)}
	dir = write(t, config, append(gpt(t), head)) // not tied, which only its values show
	_, err = pretrained.ReadGPT(dir)
	require.ErrorContains(t, err, "lm_head.weight: got other numbers")
	spec, err = specOf(dir)
	require.NoError(t, err)
	require.Equal(t, want, spec)
	dir = without(t, "model.safetensors")
	_, err = specOf(dir)
	require.ErrorContains(t, err, "pretrained: "+dir+": holds neither ")
}

func specOf(dir string) (pretrained.Spec, error) {
	f, err := pretrained.Open(dir)
	if err != nil {
		return pretrained.Spec{}, err
	}
	return f.Spec()
}

// The weights of a model can be copied to one with fewer positions, of either type.
func TestCopyTo(t *testing.T) {
	g, err := pretrained.ReadGPT(write(t, hub, caseTensors(t, "torch/gpt.safetensors", "gpt")))
	require.NoError(t, err)
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		c, _ := g.Model.Config().GPT()
		c.ContextLength = 5
		p := layers.NewBlankParams(dt)
		_, err := layers.NewGPT(p.Scope(""), c)
		require.NoError(t, err)
		require.NoError(t, g.CopyTo(p))
		for name, to := range p.All() {
			from, _ := g.Params.Get(name)
			require.InDeltaSlice(t, golden.Floats(t, from)[:to.Shape().TotalSize()], golden.Floats(t, to), 1e-6, name)
		}
	}
	larger, _ := g.Model.Config().GPT()
	larger.ContextLength++
	p := layers.NewBlankParams(tensor.Float32)
	_, err = layers.NewGPT(p.Scope(""), larger)
	require.NoError(t, err)
	require.ErrorContains(t, g.CopyTo(p), "pretrained: copy: transformer.wpe.weight: got weights of another shape")
	require.Error(t, g.CopyTo(nil))
}
