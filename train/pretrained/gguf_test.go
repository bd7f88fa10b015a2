package pretrained_test

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// logProbs returns the log-probabilities of rows of logits.
func logProbs(logits []float64, rows int) (all [][]float64) {
	width := len(logits) / rows
	for i := range rows {
		row, sum := logits[i*width:][:width], 0.0
		for _, v := range row {
			sum += math.Exp(v)
		}
		to := make([]float64, width)
		for j, v := range row {
			to[j] = v - math.Log(sum)
		}
		all = append(all, to)
	}
	return all
}

// furthest returns the largest difference of two tables.
func furthest(t testing.TB, want, got [][]float64) (most float64) {
	require.Len(t, got, len(want))
	for i := range want {
		require.Len(t, got[i], len(want[i]), i)
		for j, v := range want[i] {
			most = max(most, math.Abs(v-got[i][j]))
		}
	}
	return most
}

// llama.cpp's scores for GPT-2 equal ours: with and without biases, with an untied head, with the exact GELU and with
// grouped heads.
func TestGGUFScores(t *testing.T) {
	var jobs []job
	var models []*pretrained.GPT
	names := slices.Sorted(maps.Keys(cases))
	for _, name := range names {
		config := cases[name].with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}})
		g, err := pretrained.ReadGPT(write(t, config, caseTensors(t, "torch/gpt.safetensors", name)))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, "f32"))
		jobs = append(jobs, job{Model: path, IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Greedy: 3, Letters: true})
		models = append(models, g)
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(names[i], func(t *testing.T) {
			requireScores(t, models[i], jobs[i], v, 2e-2) // llama.cpp's GELU is a table in half precision
		})
	}
}

// requireScores compares llama.cpp's scores with a model's.
func requireScores(t testing.TB, g *pretrained.GPT, j job, v verdict, bound float64) {
	fine(t, v)
	want := logProbs(run(t, g, j.IDs, len(j.IDs)), len(j.IDs))
	most := furthest(t, want, v.LogProbs)
	t.Logf("%.1e", most)
	require.Less(t, most, bound)
	require.Len(t, v.Greedy, j.Greedy)
	ids := slices.Clone(j.IDs)
	for _, id := range v.Greedy {
		rows := logProbs(run(t, g, ids, len(ids)), len(ids))
		row := rows[len(rows)-1]
		require.Greater(t, row[id], slices.Max(row)-2*bound)
		ids = append(ids, id)
	}
}

// Matrices in fewer bits cause differences from two roundings: of the matrices, and of the vectors, which llama.cpp
// also rounds before it multiplies. The relative error of a number is at most 2⁻⁹ in BF16 and 2⁻¹² in F16; in Q8_0 the
// error is at most 1/254 of the block's largest number. In three layers, this gives differences of 1.7e-2, 2.5e-3 and
// 5.8e-2 in log-probabilities that range over 4.6.
func TestGGUFTypes(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 256, ContextLength: 32, EmbedDim: 96, NumLayers: 3, NumHeads: 4,
		DimFeedforward: 208, Bias: true, Activation: "gelu_new"} // rows of 208 are not whole blocks of 32
	p := layers.NewParams(tensor.Float32, 5)
	m, err := layers.NewGPT(p.Scope(""), c)
	require.NoError(t, err)
	for name, value := range p.All() { // of the size of trained ones
		if !strings.Contains(name, "ln_") {
			for i := range value.Float32s() {
				value.Float32s()[i] *= 4
			}
		}
	}
	g := &pretrained.GPT{Model: m, Params: p, Tokenizer: text.ByteTokenizer{}, EndOfText: -1}
	ids := make([]int64, 24)
	for i := range ids {
		ids[i] = int64(i * i % 256)
	}
	var jobs []job
	for _, typ := range pretrained.GGUFTypes() {
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, typ))
		jobs = append(jobs, job{Model: path, IDs: ids})
	}
	want := logProbs(run(t, g, ids, len(ids)), len(ids))
	for i, v := range llamacpp(t, jobs...) {
		fine(t, v)
		most := furthest(t, want, v.LogProbs)
		t.Log(pretrained.GGUFTypes()[i], most)
		bounds := map[pretrained.GGUFType]float64{"f32": 2e-2, "f16": 2e-2, "bf16": 5e-2, "q8_0": 0.2}
		require.Less(t, most, bounds[pretrained.GGUFTypes()[i]])
	}
}
