package pretrained_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/testenv"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SmolLM2-135M-Instruct gives the answers of transformers without sampling, and its logits
// (testdata/published/values.py).
func TestSmolLM2(t *testing.T) {
	if testenv.Race {
		t.Skip("half a minute under the race detector, which finds nothing that small models do not")
	}
	g, err := pretrained.ReadGPT(golden.Published(t, "smollm2"))
	require.NoError(t, err)
	require.Empty(t, g.Ignored)
	f := golden.Load(t, "published/smollm2.safetensors")
	columns := f.Int64("columns")
	const prompts = 4
	for i := range prompts {
		want := f.Int64(fmt.Sprintf("greedy.%d", i))
		logits := run(t, g, want, 1, len(want))
		var chosen []float64
		for row := range want {
			for _, column := range columns {
				chosen = append(chosen, logits[row*g.Model.Config().VocabSize+int(column)])
			}
		}
		golden.Close(t, "logits", f.Float64(fmt.Sprintf("logits.%d", i)), chosen, 1e-4, 1e-4)

		var ids []int
		for _, id := range want {
			ids = append(ids, int(id))
		}
		at := len(ids) - 1
		for ids[at-3] != 1 { // the last <|im_start|>assistant\n, before the answer
			at--
		}
		generator, err := generate.New(g.Model, generate.Config{Capacity: len(ids) + 1})
		require.NoError(t, err)
		require.NoError(t, generator.Prompt(t.Context(), ids[:at]))
		for _, id := range ids[at:] {
			got, err := generator.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, id, got)
		}
	}
}

// The attention weights of all heads of SmolLM2 for a sentence equal those of transformers.
func TestSmolLM2Heads(t *testing.T) {
	g, err := pretrained.ReadGPT(golden.Published(t, "smollm2"))
	require.NoError(t, err)
	f := golden.Load(t, "published/smollm2.safetensors")
	sentence := f.Int64("sentence")
	b := layers.NewBuild(g.Params, layers.Eval)
	ids := b.InputOf(tensor.Int64, "ids", len(sentence))
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(ids, tensor.New(tensor.WithShape(len(sentence)), tensor.WithBacking(sentence))))
	_, err = g.Model.Next(b, ids)
	require.NoError(t, err)
	var nodes G.Nodes
	for _, call := range b.Calls("model.layers.*.self_attn") {
		n, err := call.Weights()
		require.NoError(t, err)
		nodes = append(nodes, n)
	}
	m, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	var got []float64
	for _, n := range nodes {
		got = append(got, golden.Floats(t, n.Value())...)
	}
	golden.Close(t, "attention", f.Float64("attention"), got, 1e-5, 0)
}

// SmolLM2's tokenizer gives the ids of the tokenizers package for texts that are hard to split.
func TestSmolLM2Texts(t *testing.T) {
	tokenizer, err := text.OpenTokenizer(golden.Published(t, "smollm2"))
	require.NoError(t, err)
	path, err := golden.Path("published", "smollm2_texts.json")
	require.NoError(t, err)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	var rows []struct {
		Text string
		IDs  []int
	}
	require.NoError(t, json.Unmarshal(file, &rows))
	require.Greater(t, len(rows), 100)
	for _, row := range rows {
		got, err := tokenizer.Encode(row.Text)
		require.NoError(t, err)
		require.Equal(t, row.IDs, got, "%q", row.Text)
	}
}

// SmolLM2's GGUF file, in which most weights have 4 bits, gives the log-probabilities and answers of transformers with
// the weights of gguf.dequantize (testdata/published/ggufvalues.py).
func TestSmolLM2GGUF(t *testing.T) {
	if testenv.Race {
		t.Skip("half a minute under the race detector, which finds nothing that small models do not")
	}
	g, err := pretrained.ReadGPT(golden.Published(t, "smollm2") + ".gguf")
	require.NoError(t, err)
	f := golden.Load(t, "published/smollm2_gguf.safetensors")
	for i := range 2 {
		want := f.Int64(fmt.Sprintf("greedy.%d", i))
		rows := logProbs(run(t, g, want, 1, len(want)), len(want))
		var chosen []float64
		for _, row := range rows {
			for _, column := range f.Int64("columns") {
				chosen = append(chosen, row[column])
			}
		}
		golden.Close(t, "log-probabilities", f.Float64(fmt.Sprintf("logprobs.%d", i)), chosen, 1e-4, 0)
		at := len(want) - 1
		for want[at-3] != 1 { // the last <|im_start|>assistant\n, before the answer
			at--
		}
		for j := at; j < len(want); j++ {
			require.Equal(t, slices.Max(rows[j-1]), rows[j-1][want[j]], "the answer without sampling, at %d", j)
		}
	}
}
