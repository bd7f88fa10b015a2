package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/folder"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// gpt are the weights of the plain case.
func gpt(t testing.TB) []safetensors.Tensor { return caseTensors(t, "torch/gpt.safetensors", "gpt") }

// float32s are tensors rounded, which these reference values are exactly.
func float32s(t testing.TB, tensors []safetensors.Tensor) []safetensors.Tensor {
	f := golden.Load(t, "torch/gpt.safetensors")
	for i, x := range tensors {
		tensors[i].Data = f.Float32("gpt.param." + x.Name)
	}
	return tensors
}

// The forms in which folders come hold the same model.
func TestForms(t *testing.T) {
	want, err := folder.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	wte := gpt(t)[0]
	require.Equal(t, "transformer.wte.weight", wte.Name)
	for name, dir := range map[string]string{
		"no prefix, buffers": write(t, hub, append(renamed(gpt(t)),
			safetensors.Tensor{Name: "h.0.attn.bias", Shape: []int{1, 1, 11, 11}, Data: make([]float32, 121)},
			safetensors.Tensor{Name: "h.1.attn.bias", Shape: []int{1, 1, 11, 11}, Data: make([]bool, 121)},
			safetensors.Tensor{Name: "h.1.attn.masked_bias", Data: []float32{-1e4}})),
		"tied head": write(t, hub, append(gpt(t), safetensors.Tensor{Name: "lm_head.weight", Shape: wte.Shape, Data: wte.Data})),
		"shards":    sharded(t, gpt(t)),
		"a run":     write(t, fields{"text": fields{"path": "x"}, "vocabulary": nil, "model": hub, "dtype": "float64"}, gpt(t)),
	} {
		got, err := folder.ReadGPT(dir)
		require.NoError(t, err, name)
		same(t, want.Params, got.Params)
		require.Equal(t, want.Model.Config(), got.Model.Config())
	}

	got, err := folder.ReadGPT(write(t, hub, float32s(t, gpt(t))))
	require.NoError(t, err)
	require.Equal(t, tensor.Float32, got.Dtype())
	f := golden.Load(t, "torch/gpt.safetensors")
	golden.Close(t, "float32", f.Float64("gpt.out"), run(t, got, f.Int64("gpt.ids"), 2, 7), 1e-5, 1e-5)
	dir := t.TempDir()
	_, err = got.Write(dir, folder.HuggingFace)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"torch_dtype": "float32"`)
}

// renamed are tensors without the prefix.
func renamed(tensors []safetensors.Tensor) []safetensors.Tensor {
	for i := range tensors {
		tensors[i].Name = strings.TrimPrefix(tensors[i].Name, "transformer.")
	}
	return tensors
}

// sharded is a folder with the weights in two files.
func sharded(t testing.TB, tensors []safetensors.Tensor) string {
	dir := write(t, hub, nil)
	require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
	index := map[string]string{}
	for i, file := range []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"} {
		part := tensors[i*10:]
		if i == 0 {
			part = tensors[:10]
		}
		for _, x := range part {
			index[x.Name] = file
		}
		require.NoError(t, safetensors.WriteFile(filepath.Join(dir, file), &safetensors.File{Tensors: part}))
	}
	writeJSON(t, filepath.Join(dir, "model.safetensors.index.json"), fields{"metadata": fields{"total_size": 1}, "weight_map": index})
	return dir
}

// All that is wrong with the weights is in one error.
func TestWrongWeights(t *testing.T) {
	change := func(do func(all map[string]*safetensors.Tensor)) []safetensors.Tensor {
		all, byName := gpt(t), map[string]*safetensors.Tensor{}
		for i := range all {
			byName[all[i].Name] = &all[i]
		}
		do(byName)
		return all
	}
	zero := safetensors.Tensor{Name: "transformer.h.0.ln_1.bias", Shape: []int{12}, Data: make([]float64, 12)}
	noBias := caseTensors(t, "torch/gpt.safetensors", "gpt_no_bias")
	for want, dir := range map[string]string{
		"weights: missing transformer.h.0.ln_2.bias, transformer.h.1.mlp.c_fc.bias; unknown \"transformer.h.0.ln_3.bias\", \"h.1.mlp.fc.bias\"; " +
			"transformer.wpe.weight is F64 (12, 11), want F32 (11, 12), transformer.h.0.attn.c_attn.bias is I64 (36), want F32 (36)": write(t, hub, change(func(all map[string]*safetensors.Tensor) {
			all["transformer.h.0.ln_2.bias"].Name = "transformer.h.0.ln_3.bias"
			all["transformer.h.1.mlp.c_fc.bias"].Name = "h.1.mlp.fc.bias"
			all["transformer.wpe.weight"].Shape = []int{12, 11}
			all["transformer.h.0.attn.c_attn.bias"].Data = make([]int64, 36)
		})),
		"weights: got 2 blocks, want 3 as config.json says":                                                                          write(t, hub.with(fields{"n_layer": 3}), gpt(t)),
		"weights: got 2 blocks, want 65536 as config.json says":                                                                      write(t, hub.with(fields{"n_layer": 65536}), gpt(t)),
		"weights: got 0 blocks, want 2 as config.json says":                                                                          write(t, hub, nil),
		"weights: got 4080 numbers, want 1200003924 for what config.json says":                                                       write(t, hub.with(fields{"vocab_size": 100000000}), gpt(t)),
		`weights: lm_head.weight is not wte.weight, though config.json does not say "tie_word_embeddings": false`:                    write(t, hub, append(gpt(t), safetensors.Tensor{Name: "lm_head.weight", Shape: []int{13, 12}, Data: make([]float64, 156)})),
		`tensor "transformer.wte.weight" comes twice`:                                                                                write(t, hub, append(gpt(t), safetensors.Tensor{Name: "wte.weight", Shape: []int{1}, Data: []float64{1}})),
		"weights: missing lm_head.weight":                                                                                            write(t, hub.with(fields{"tie_word_embeddings": false}), gpt(t)),
		`weights: unknown "lm_head.bias"`:                                                                                            write(t, hub, append(gpt(t), safetensors.Tensor{Name: "lm_head.bias", Shape: []int{13}, Data: make([]float64, 13)})),
		"weights: missing transformer.h.0.ln_1.bias, transformer.h.0.attn.c_attn.bias, transformer.h.0.attn.c_proj.bias and 10 more": write(t, hub, noBias),
		`weights: transformer.h.0.ln_1.bias is not 0, though config.json says "bias": false`: write(t, hub.with(fields{"bias": false}), append(noBias,
			safetensors.Tensor{Name: "h.0.ln_1.bias", Shape: []int{12}, Data: append(make([]float64, 11), 1)})),
		"": write(t, hub.with(fields{"bias": false}), append(noBias, zero)),
		"holds neither model.safetensors nor model.safetensors.index.json, want one (transformers' save_pretrained writes them)": without(t, "model.safetensors"),
	} {
		_, err := folder.ReadGPT(dir)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, "folder: "+dir+": "+want)
	}
}

// without is a good folder that lacks a file.
func without(t testing.TB, name string) string {
	dir := write(t, hub, gpt(t))
	require.NoError(t, os.Remove(filepath.Join(dir, name)))
	return dir
}

func TestWrongConfigs(t *testing.T) {
	for want, config := range map[string]any{
		`model_type: got "llama", want "gpt2": the model is no GPT`:                                      hub.with(fields{"model_type": "llama"}),
		`model_type: got "", want "gpt2": the model is no GPT`:                                           fields{},
		`format: got "onnx", want "torch" or none`:                                                       hub.with(fields{"format": "onnx"}),
		"scale_attn_weights: got false, want true: attention without a scale is not supported":           hub.with(fields{"scale_attn_weights": false}),
		"scale_attn_by_inverse_layer_idx: got true, want false: a scale for each layer is not supported": hub.with(fields{"scale_attn_by_inverse_layer_idx": true}),
		"add_cross_attention: got true, want false: GPT-2 with an encoder is not supported":              hub.with(fields{"add_cross_attention": true}),
		`layers: GPT: Activation: got "mish", want `:                                                     hub.with(fields{"activation_function": "mish"}),
		"layers: GPT: Vocab: got 0, want at least 1":                                                     hub.with(fields{"vocab_size": 0}),
		"json: cannot unmarshal array into Go value of type folder.configExtra":                          []int{1},
		"layers: GPT: config: json: cannot unmarshal string into Go struct field":                        hub.with(fields{"n_embd": "12"}),
		"invalid character 'h' looking for beginning of value":                                           nil,
	} {
		dir := write(t, config, gpt(t))
		if config == nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("ha"), 0o644))
		}
		_, err := folder.ReadGPT(dir)
		require.ErrorContains(t, err, "folder: "+dir+": config.json: "+want)
	}
	dir := write(t, hub, gpt(t))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), make([]byte, 1<<23+1), 0o644))
	_, err := folder.ReadGPT(dir)
	require.EqualError(t, err, "folder: "+dir+": config.json: more than 8388608 bytes, want a smaller file")
	_, err = folder.ReadGPT(without(t, "config.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = folder.ReadGPT(write(t, hub.with(fields{"vocabulary": fields{"tokenizer": "bytes"}}), gpt(t)))
	require.ErrorContains(t, err, "config.json: vocabulary: got 256 tokens, want at most vocab_size 13")
	_, err = folder.ReadGPT(write(t, hub.with(fields{"vocabulary": fields{"characters": "ba"}}), gpt(t)))
	require.ErrorContains(t, err, "config.json: vocabulary: text: vocabulary: got 'a' after 'b'")
	for _, model := range []any{fields{"vocab": 13}, fields{"n_embd": nil}, 7} {
		_, err = folder.ReadGPT(write(t, fields{"vocabulary": fields{"characters": "a"}, "model": model}, gpt(t)))
		require.ErrorIs(t, err, folder.ErrNoGPT)
	}
}

func TestWrongIndexes(t *testing.T) {
	for want, index := range map[string]string{
		`: got the file "../x", want names of files beside it`:   `{"weight_map": {"a": "../x"}}`,
		`: got the file "/etc/x", want names of files beside it`: `{"weight_map": {"a": "/etc/x"}}`,
		`: weight_map: got no file, want at least one`:           `{}`,
		`: unexpected end of JSON input`:                         `{`,
	} {
		dir := sharded(t, gpt(t))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(index), 0o644))
		_, err := folder.ReadGPT(dir)
		require.EqualError(t, err, "folder: "+dir+": model.safetensors.index.json"+want)
	}
	dir := sharded(t, gpt(t))
	require.NoError(t, os.Remove(filepath.Join(dir, "model-00002-of-00002.safetensors")))
	_, err := folder.ReadGPT(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "model-00002-of-00002.safetensors")
}

// A form is what the model has, and no weight is read for it.
func TestReadForm(t *testing.T) {
	config := hub.with(fields{"n_inner": 48, "vocabulary": fields{"characters": "abcdefghijklm"}})
	dir := write(t, config, gpt(t))
	g, err := folder.ReadGPT(dir)
	require.NoError(t, err)
	want := folder.Form{Config: g.Model.Config(), Dtype: tensor.Float64, Tokenizer: g.Tokenizer}
	form, err := folder.ReadForm(dir)
	require.NoError(t, err)
	require.Equal(t, want, form)

	head := safetensors.Tensor{Name: "lm_head.weight", Shape: []int{13, 12}, Data: make([]float64, 156)}
	dir = write(t, config, append(gpt(t), head)) // which is not tied, as only its values tell
	_, err = folder.ReadGPT(dir)
	require.ErrorContains(t, err, "lm_head.weight is not wte.weight")
	form, err = folder.ReadForm(dir)
	require.NoError(t, err)
	require.Equal(t, want, form)
	dir = without(t, "model.safetensors")
	_, err = folder.ReadForm(dir)
	require.ErrorContains(t, err, "folder: "+dir+": holds neither ")
}

// A key that comes twice is not the last one's value.
func TestConfigKeyTwice(t *testing.T) {
	dir := without(t, "config.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type": "gpt2", "n_embd": 12, "n_embd": 24}`), 0o644))
	_, err := folder.ReadGPT(dir)
	require.EqualError(t, err, "folder: "+dir+`: config.json: field "n_embd" comes twice`)
}

// A folder that holds anything is not written to.
func TestWriteRefuses(t *testing.T) {
	g, err := folder.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = g.Write(dir, "onnx")
	require.EqualError(t, err, "folder: "+dir+`: format: got "onnx", want one of [huggingface torch]`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
	_, err = g.Write(dir, folder.Torch)
	require.EqualError(t, err, "folder: "+dir+": got a folder that is not empty, want a new or empty one")
	require.Equal(t, []string{"x"}, filesIn(t, dir))
	_, err = g.Write(filepath.Join(dir, "x"), folder.Torch)
	require.ErrorContains(t, err, "x")
}
