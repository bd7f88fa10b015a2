package pretrained_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// renamed returns the tensors with names without the prefix.
func renamed(tensors []safetensors.Tensor) []safetensors.Tensor {
	for i := range tensors {
		tensors[i].Name = strings.TrimPrefix(tensors[i].Name, "transformer.")
	}
	return tensors
}

// sharded returns a folder with the weights in two files.
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
	writeJSON(t, filepath.Join(dir, "model.safetensors.index.json"),
		fields{"metadata": fields{"total_size": 1}, "weight_map": index})
	return dir
}

// One error has all problems of the weights.
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
		`weights: transformer.h.0.ln_1.bias is not 0, though config.json says "bias": false`: write(t,
			hub.with(fields{"bias": false}), append(noBias,
				safetensors.Tensor{Name: "h.0.ln_1.bias", Shape: []int{12}, Data: append(make([]float64, 11), 1)})),
		"": write(t, hub.with(fields{"bias": false}), append(noBias, zero)),
		"holds neither model.safetensors nor model.safetensors.index.json, want one (transformers' save_pretrained writes them)": without(t, "model.safetensors"),
	} {
		_, err := pretrained.ReadGPT(dir)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, "pretrained: "+dir+": "+want)
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
		_, err := pretrained.ReadGPT(dir)
		require.EqualError(t, err, "pretrained: "+dir+": model.safetensors.index.json"+want)
	}
	dir := sharded(t, gpt(t))
	require.NoError(t, os.Remove(filepath.Join(dir, "model-00002-of-00002.safetensors")))
	_, err := pretrained.ReadGPT(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "model-00002-of-00002.safetensors")
}
