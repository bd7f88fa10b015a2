package pretrained_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/safetensors"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// renamed returns the tensors with the prefix removed from their names.
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

// One error lists all problems of the weights.
func TestWrongWeights(t *testing.T) {
	change := func(do func(all map[string]*safetensors.Tensor)) []safetensors.Tensor {
		all, byName := gpt(t), map[string]*safetensors.Tensor{}
		for i := range all {
			byName[all[i].Name] = &all[i]
		}
		do(byName)
		return all
	}
	tensor := func(name string, data []float64, shape ...int) safetensors.Tensor {
		return safetensors.Tensor{Name: name, Shape: shape, Data: data}
	}
	noBias := caseTensors(t, "torch/gpt.safetensors", "gpt_no_bias")
	for _, row := range []struct {
		name string
		dir  string
		want string // "" is none
	}{
		{name: "missing, unknown and wrong", dir: write(t, hub, change(func(all map[string]*safetensors.Tensor) {
			all["transformer.h.0.ln_2.bias"].Name = "transformer.h.0.ln_3.bias"
			all["transformer.h.1.mlp.c_fc.bias"].Name = "h.1.mlp.fc.bias"
			all["transformer.wpe.weight"].Shape = []int{12, 11}
			all["transformer.h.0.attn.c_attn.bias"].Data = make([]int64, 36)
		})),
			want: "weights: missing transformer.h.0.ln_2.bias, transformer.h.1.mlp.c_fc.bias; " +
				`unknown "transformer.h.0.ln_3.bias", "h.1.mlp.fc.bias"; ` +
				"transformer.wpe.weight is F64 (12, 11), want F32 (11, 12), " +
				"transformer.h.0.attn.c_attn.bias is I64 (36), want F32 (36)"},
		{name: "a block too few", dir: write(t, hub.with(fields{"n_layer": 3}), gpt(t)),
			want: "weights: got 2 blocks, want the 3 of config.json"},
		{name: "many blocks too few", dir: write(t, hub.with(fields{"n_layer": 65536}), gpt(t)),
			want: "weights: got 2 blocks, want the 65536 of config.json"},
		{name: "no weights", dir: write(t, hub, nil), want: "weights: got 0 blocks, want the 2 of config.json"},
		{name: "a vast vocabulary", dir: write(t, hub.with(fields{"vocab_size": 100000000}), gpt(t)),
			want: "weights: got 4080 numbers, want the 1200003924 of a model of config.json"},
		{name: "a head that is not tied",
			dir: write(t, hub, append(gpt(t), tensor("lm_head.weight", make([]float64, 156), 13, 12))),
			want: `weights: lm_head.weight: got other numbers than wte.weight's, ` +
				`want "tie_word_embeddings": false in config.json`},
		{name: "a name twice", dir: write(t, hub, append(gpt(t), tensor("wte.weight", []float64{1}, 1))),
			want: `tensor "transformer.wte.weight" comes twice`},
		{name: "no head", dir: write(t, hub.with(fields{"tie_word_embeddings": false}), gpt(t)),
			want: "weights: missing lm_head.weight"},
		{name: "a bias of the head",
			dir:  write(t, hub, append(gpt(t), tensor("lm_head.bias", make([]float64, 13), 13))),
			want: `weights: unknown "lm_head.bias"`},
		{name: "no biases", dir: write(t, hub, noBias),
			want: "weights: missing transformer.h.0.ln_1.bias, transformer.h.0.attn.c_attn.bias, " +
				"transformer.h.0.attn.c_proj.bias and 10 more"},
		{name: "a bias in a model without",
			dir: write(t, hub.with(fields{"bias": false}),
				append(noBias, tensor("h.0.ln_1.bias", append(make([]float64, 11), 1), 12))),
			want: `weights: transformer.h.0.ln_1.bias: got other numbers than 0, want "bias": true in config.json`},
		{name: "a bias of zeros in a model without",
			dir: write(t, hub.with(fields{"bias": false}),
				append(noBias, tensor("transformer.h.0.ln_1.bias", make([]float64, 12), 12)))},
		{name: "no file", dir: without(t, "model.safetensors"),
			want: "holds neither model.safetensors nor model.safetensors.index.json, want one " +
				"(transformers' save_pretrained writes them)"},
	} {
		_, err := pretrained.ReadGPT(row.dir)
		if row.want == "" {
			require.NoError(t, err, row.name)
			continue
		}
		require.EqualError(t, err, "pretrained: "+row.dir+": "+row.want, row.name)
	}
}

// An error names a weight that is NaN, and no function that reads the model computes with it.
func TestNaNIsNamed(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(-1)} {
		all := gpt(t)
		for _, x := range all {
			if x.Name == "transformer.h.1.mlp.c_fc.bias" {
				x.Data.([]float64)[3] = value
			}
		}
		dir := write(t, hub, all)
		_, err := pretrained.ReadGPT(dir)
		require.ErrorIs(t, err, train.ErrNotFinite)
		require.EqualError(t, err,
			"pretrained: "+dir+": parameter transformer.h.1.mlp.c_fc.bias: has values that are not finite")
	}
}

// Files with a checksum are verified; all others are read without.
func TestSealedWeights(t *testing.T) {
	dir := write(t, hub, gpt(t))
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	path := filepath.Join(dir, "model.safetensors")
	for _, sealed := range []bool{false, true} {
		if sealed {
			require.NoError(t, checkpoint.WriteParams(path, g.Params, nil))
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		content[len(content)-3] ^= 1
		require.NoError(t, os.WriteFile(path, content, 0o644))
		_, err = pretrained.ReadGPT(dir)
		require.Equal(t, sealed, errors.Is(err, checkpoint.ErrDamaged), "%v", err)
		if sealed {
			require.ErrorContains(t, err, "pretrained: "+dir+": "+path+": damaged: checksum: got ")
		}
	}
}

// A tensor that needs no parameter must have the shape that it needs: a sparse file could otherwise claim more memory
// than there is.
func TestHugeOptionalTensors(t *testing.T) {
	for _, row := range []struct{ name, metadata, want string }{
		{name: "lm_head.weight", want: `"lm_head.weight" is F32 (274877906944), want none or F32 of its weights' width`},
		{name: "h.0.attn.bias", metadata: `"__metadata__":{"attention.sha256":"0"},`, want: `unknown "h.0.attn.bias"`},
	} {
		dir := write(t, hub, gpt(t))
		path := filepath.Join(dir, "model.safetensors")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		n := binary.LittleEndian.Uint64(content)
		size := int64(len(content)) - 8 - int64(n)
		header := strings.TrimSuffix(strings.TrimSpace(string(content[8:8+n])), "}")
		header = strings.Replace(header, "{", "{"+row.metadata, 1) +
			fmt.Sprintf(`,%q:{"dtype":"F32","shape":[%d],"data_offsets":[%d,%d]}}`, row.name, 1<<38, size, size+1<<40)
		require.NoError(t, os.WriteFile(path, slices.Concat(
			binary.LittleEndian.AppendUint64(nil, uint64(len(header))), []byte(header), content[8+n:]), 0o644))
		if err := os.Truncate(path, 8+int64(len(header))+size+1<<40); err != nil {
			t.Skip("the file system has no such files: ", err)
		}
		_, err = pretrained.ReadGPT(dir)
		require.EqualError(t, err, "pretrained: "+dir+": weights: "+row.want)
	}
}

func TestWrongIndexes(t *testing.T) {
	for _, row := range []struct{ name, index, want string }{
		{name: "a folder above", index: `{"weight_map": {"a": "../x"}}`,
			want: `got the file "../x", want names of files beside it`},
		{name: "another folder", index: `{"weight_map": {"a": "/etc/x"}}`,
			want: `got the file "/etc/x", want names of files beside it`},
		{name: "a file below", index: `{"weight_map": {"a": "sub/x"}}`,
			want: `got the file "sub/x", want names of files beside it`},
		{name: "no file", index: `{}`, want: `weight_map: got no file, want at least one`},
		{name: "not JSON", index: `{`, want: `not JSON: unexpected end of JSON input, want one JSON object`},
	} {
		dir := sharded(t, gpt(t))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(row.index), 0o644))
		_, err := pretrained.ReadGPT(dir)
		require.EqualError(t, err, "pretrained: "+dir+": model.safetensors.index.json: "+row.want, row.name)
	}
	dir := sharded(t, gpt(t))
	require.NoError(t, os.Remove(filepath.Join(dir, "model-00002-of-00002.safetensors")))
	_, err := pretrained.ReadGPT(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "model-00002-of-00002.safetensors")
}
