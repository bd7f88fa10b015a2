package pretrained_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/golden"
	"attention/internal/mapped"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/layers/generate"
	"attention/train"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// storedConfig is a Llama whose matrices are large enough to be mapped.
const storedConfig = `{"model_type": "llama", "vocab_size": 600, "hidden_size": 192, "intermediate_size": 256,
	"num_hidden_layers": 2, "num_attention_heads": 3, "num_key_value_heads": 3, "max_position_embeddings": 64,
	"rms_norm_eps": 1e-05, "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": TIED}`

// storedFolder returns a folder of a Llama with weights of a type, in files with a limited number of bytes.
func storedFolder(t testing.TB, dtype string, shard int64, tied string) string {
	dir := t.TempDir()
	config := []byte(storedConfig)
	config = slices.Concat(config[:len(config)-len("TIED}")], []byte(tied), []byte("}"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600))
	f, err := pretrained.Open(dir)
	require.NoError(t, err)
	p := layers.NewParams(tensor.Float32, 7)
	m, err := layers.NewDecoder(p.Scope(""), f.Config())
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "out")
	g := &pretrained.GPT{Model: m, Params: p, EndOfText: -1}
	_, err = g.Write(out, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: dtype, ShardSize: shard})
	require.NoError(t, err)
	return out
}

// wide returns a copy of a model with all weights widened.
func wide(t testing.TB, g *pretrained.GPT) *pretrained.GPT { return as(t, g, tensor.Float32) }

// matrices are used in the memory of the file and keep its type.
const gateName = "model.layers.1.mlp.gate_proj.weight"

// TestStoredFolders reads weights of each type, from one file and from several. It checks in which form they are
// stored, and that the model has the bits of a model whose weights are widened first.
func TestStoredFolders(t *testing.T) {
	for _, row := range []struct {
		name, dtype string
		shard       int64
		tied        string
		kept        tensor.Dtype
		mapped      bool
	}{
		{name: "bfloat16", dtype: "bfloat16", tied: "true", kept: graph.BF16, mapped: true},
		{name: "bfloat16 in shards", dtype: "bfloat16", shard: 300e3, tied: "false", kept: graph.BF16, mapped: true},
		{name: "float32", dtype: "float32", tied: "false", kept: tensor.Float32, mapped: true},
		{name: "float16", dtype: "float16", tied: "true", kept: tensor.Float32},
		{name: "float64", dtype: "float64", tied: "true", kept: tensor.Float64, mapped: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			g, err := pretrained.ReadGPT(storedFolder(t, row.dtype, row.shard, row.tied))
			require.NoError(t, err)
			gate, _ := g.Params.Get(gateName)
			require.Equal(t, row.kept, gate.Dtype())
			require.Equal(t, row.mapped && mapsFiles(t), gate.IsManuallyManaged())
			norm, _ := g.Params.Get("model.norm.weight")
			require.Equal(t, g.Dtype(), norm.Dtype())
			require.False(t, norm.IsManuallyManaged())
			if row.dtype == "float64" {
				return
			}
			w := wide(t, g)
			ids := []int64{5, 599, 5, 0, 77, 8}
			for _, n := range []int{1, 2, 6} { // products of one row, of a few and of many
				require.Equal(t, run(t, w, ids[:n], n), run(t, g, ids[:n], n), "%d tokens", n)
			}
			for _, precision := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
				require.Equal(t, drawn(t, w, precision), drawn(t, g, precision), "%v", precision)
			}
			require.Equal(t, onTape(t, w, ids), onTape(t, g, ids), "on Gorgonia's tape machine")
		})
	}
}

// mapsFiles reports whether files can be mapped here.
func mapsFiles(t testing.TB) bool {
	f, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer f.Close()
	_, err = mapped.Map(f, 1)
	return err == nil
}

// drawn returns the tokens generated after a prompt, which is read with a cache.
func drawn(t testing.TB, g *pretrained.GPT, p graph.Precision) (ids []int) {
	t.Setenv("ATTENTION_BF16", "emulated")
	generator, err := generate.New(g.Model, generate.Config{Capacity: 16, Precision: p})
	require.NoError(t, err)
	require.NoError(t, generator.Prompt(t.Context(), []int{3, 1, 4, 1, 5}))
	for range 5 {
		id, err := generator.Next(t.Context())
		require.NoError(t, err)
		ids = append(ids, id)
	}
	return ids
}

// onTape returns a model's logits, computed by Gorgonia's own machine.
func onTape(t testing.TB, g *pretrained.GPT, ids []int64) []float64 {
	b := layers.NewBuild(g.Params, layers.Eval)
	in := b.InputOf(tensor.Int64, "ids", len(ids))
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	logits, err := g.Model.Forward(b, in)
	require.NoError(t, err)
	vm := G.NewTapeMachine(b.Graph())
	defer vm.Close()
	require.NoError(t, vm.RunAll())
	return golden.Floats(t, logits.Value())
}

// TestStoredWeightsAreNotTrained trains the norms of a model whose matrices are stored in bfloat16: gradients flow
// through them, with the bits of widened ones. Training the matrices is refused until they are widened.
func TestStoredWeightsAreNotTrained(t *testing.T) {
	g, err := pretrained.ReadGPT(storedFolder(t, "bfloat16", 0, "true"))
	require.NoError(t, err)
	step := func(g *pretrained.GPT, freeze ...string) (*train.Step, error) {
		if freeze != nil {
			require.NoError(t, g.Params.Freeze(freeze...))
		}
		b := layers.NewBuild(g.Params, layers.Train)
		ids, targets := b.InputOf(tensor.Int, "ids", 7), b.InputOf(tensor.Int, "targets", 7)
		loss := b.Of(g.Model.Loss(b, ids, targets))
		return train.NewStep(b, loss, train.StepConfig{Schedule: train.ConstantRate(1e-2)})
	}
	batch := train.Values{
		"ids":     tensor.New(tensor.WithShape(7), tensor.WithBacking([]int{1, 2, 3, 4, 5, 6, 7})),
		"targets": tensor.New(tensor.WithShape(7), tensor.WithBacking([]int{2, 3, 4, 5, 6, 7, 8})),
	}
	_, err = step(g)
	require.ErrorContains(t, err, "layers: model.embed_tokens.weight: got a parameter stored in bfloat16 to train, "+
		"want it frozen, or widened by Params.Widen")
	w := wide(t, g)
	var norms [2][]float64
	for i, g := range []*pretrained.GPT{g, w} {
		s, err := step(g, "embed_tokens", "*_proj")
		require.NoError(t, err)
		for range 2 {
			_, err = s.Run(batch)
			require.NoError(t, err)
		}
		for _, name := range []string{"model.layers.0.input_layernorm.weight", "model.norm.weight"} {
			value, _ := g.Params.Get(name)
			norms[i] = append(norms[i], dense.Float64s(value)...)
		}
	}
	require.Equal(t, norms[1], norms[0])
	require.NotEqual(t, 1.0, norms[0][0])

	require.NoError(t, g.Params.Unfreeze("mlp"))
	g.Params.Widen()
	gate, _ := g.Params.Get(gateName)
	require.Equal(t, tensor.Float32, gate.Dtype())
	before := gate.Float32s()[0]
	embed, _ := g.Params.Get("model.embed_tokens.weight")
	require.Equal(t, graph.BF16, embed.Dtype(), "it is frozen")
	s, err := step(g)
	require.NoError(t, err)
	_, err = s.Run(batch)
	require.NoError(t, err)
	require.NotEqual(t, before, gate.Float32s()[0])
}

// TestMappedFloatsAreTrained trains weights that are in a mapped file: the file does not change.
func TestMappedFloatsAreTrained(t *testing.T) {
	dir := storedFolder(t, "float32", 0, "true")
	path := filepath.Join(dir, "model.safetensors")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	gate, _ := g.Params.Get(gateName)
	was := gate.Float32s()[0]
	gate.Float32s()[0] = was + 1
	require.Equal(t, was+1, gate.Float32s()[0])
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestOddOffsets reads a file whose header ends at an odd byte: tensors that are not aligned are copied.
func TestOddOffsets(t *testing.T) {
	for _, dtype := range []string{"bfloat16", "float32"} {
		dir := storedFolder(t, dtype, 0, "true")
		want, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		want = wide(t, want)
		path := filepath.Join(dir, "model.safetensors")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		header := binary.LittleEndian.Uint64(data)
		odd := slices.Concat(data[:8+header], []byte{' '}, data[8+header:])
		binary.LittleEndian.PutUint64(odd, header+1)
		require.NoError(t, os.WriteFile(path, odd, 0o600))
		g, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		gate, _ := g.Params.Get(gateName)
		require.False(t, gate.IsManuallyManaged())
		same(t, want.Params, wide(t, g).Params)
		require.Equal(t, run(t, want, []int64{1, 2}, 2), run(t, g, []int64{1, 2}, 2))
	}
}

// TestNaNInAFile: a NaN in a matrix is found in the first run that reads it, and a NaN in a norm when the folder is
// read.
func TestNaNInAFile(t *testing.T) {
	for name, atOnce := range map[string]bool{gateName: false, "model.norm.weight": true} {
		dir := storedFolder(t, "bfloat16", 0, "true")
		file, err := safetensors.ReadFile(filepath.Join(dir, "model.safetensors"))
		require.NoError(t, err)
		for i, x := range file.Tensors {
			data := x.Data.([]float32)
			if x.Name == name {
				data[len(data)/2] = float32(math.NaN())
			}
			file.Tensors[i].Data = safetensors.Stream{DType: safetensors.BF16, Each: func(write func(any) error) error {
				return write(data)
			}}
		}
		require.NoError(t, safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), file))
		g, err := pretrained.ReadGPT(dir)
		if !atOnce && mapsFiles(t) {
			require.NoError(t, err)
			generator, newErr := generate.New(g.Model, generate.Config{})
			require.NoError(t, newErr)
			err = generator.Prompt(t.Context(), []int{1, 2, 3})
		}
		require.ErrorIs(t, err, train.ErrNotFinite, name)
		require.ErrorContains(t, err, "parameter "+name+": has values that are not finite")
	}
}

// TestCutFolder truncates a file of weights after it was opened. Every function that reads the weights returns an
// error. Whatever reads them returns an error.
func TestCutFolder(t *testing.T) {
	if !mapsFiles(t) {
		t.Skip("files are not mapped here")
	}
	dir := storedFolder(t, "bfloat16", 0, "true")
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	generator, err := generate.New(g.Model, generate.Config{})
	require.NoError(t, err)
	require.NoError(t, generator.Prompt(t.Context(), []int{1, 2, 3}))
	require.NoError(t, os.Truncate(filepath.Join(dir, "model.safetensors"), 1<<13))
	err = generator.Prompt(t.Context(), []int{1, 2, 3})
	require.ErrorIs(t, err, mapped.ErrCut)
	require.ErrorContains(t, err, `machine: parameter "model.`)
	p := layers.NewBlankParams(tensor.Float32)
	_, err = layers.NewDecoder(p.Scope(""), g.Model.Config())
	require.NoError(t, err)
	require.ErrorIs(t, g.CopyTo(p), mapped.ErrCut)
	out := filepath.Join(t.TempDir(), "out")
	_, err = g.Write(out, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.ErrorIs(t, err, mapped.ErrCut)
	_, err = os.Stat(filepath.Join(out, "config.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
