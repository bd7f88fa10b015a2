package pretrained_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/layers"
	"attention/train"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Matrices of a GGUF file of every family, and of every format, stay in its number format. Probabilities and greedy texts
// have the bits that they have with the same weights in float32, and so have adapters that are trained.
func TestGGUFKept(t *testing.T) {
	same := func(t *testing.T, g *pretrained.GPT) {
		requireSameModel(t, wide(t, g), g, []int64{3, 0, 12, 7, 7, 1, 9, 4}, "")
	}
	for _, name := range slices.Sorted(maps.Keys(decoders)) {
		for _, typ := range pretrained.GGUFTypes() {
			t.Run(name+" "+string(typ), func(t *testing.T) { same(t, keptModel(t, name, typ)) })
		}
	}
	all, families := slices.Sorted(maps.Keys(blockFormats)), slices.Sorted(maps.Keys(decoders))
	for i, name := range families {
		format := all[i%len(all)]
		t.Run(name+" "+format, func(t *testing.T) {
			g := blockModel(t, name, format)
			same(t, g)
			requireSameAdapters(t, wide(t, g), g)
		})
	}
}

// keptModel returns a model of a file. Its matrices between layers are large enough to be mapped.
func keptModel(t *testing.T, name string, typ pretrained.GGUFType) *pretrained.GPT {
	c, path := inBlocks(decoders[name].config, 32), filepath.Join(t.TempDir(), "model.gguf")
	for i := range c.Blocks {
		c.Blocks[i].MLP.DimFeedforward = 1024
	}
	require.NoError(t, decoder(t, c).WriteGGUF(path, typ))
	g, err := pretrained.ReadGPT(path)
	require.NoError(t, err)
	return g
}

// blockModel returns a model of a file whose matrices are random blocks of a format.
func blockModel(t *testing.T, name, format string) *pretrained.GPT {
	of, path := blockFormats[format], filepath.Join(t.TempDir(), "model.gguf")
	require.NoError(t, decoder(t, inBlocks(decoders[name].config, of.numbers)).WriteGGUF(path, "f32"))
	writeBlocks(t, path, of)
	g, err := pretrained.ReadGPT(path)
	require.NoError(t, err)
	return g
}

// Matrices lie in the file's memory, or in a copy of its blocks if the rows have another order there. Adapters that are
// trained have the bits that they have with float32 weights, and so has what is trained after Widen.
func TestGGUFKeptMemory(t *testing.T) {
	for typ, each := range map[pretrained.GGUFType]float64{"f32": 4, "f16": 2, "bf16": 2, "q8_0": 34.0 / 32} {
		g := keptModel(t, "llama", typ)
		for name, v := range g.Params.All() {
			if v.Dims() == 1 {
				require.Equal(t, tensor.Float32, v.Dtype(), name)
				continue
			}
			require.Equal(t, each, float64(v.MemSize())/float64(v.Shape().TotalSize()), name)
			require.Equal(t, strings.Contains(name, ".mlp.") && mapsFiles(t), v.IsManuallyManaged(), name)
		}
		plain := wide(t, g)
		requireSameAdapters(t, plain, g)
		if typ != "q8_0" {
			continue
		}
		whole := keptModel(t, "llama", typ)
		b := layers.NewBuild(whole.Params, layers.Train)
		_, err := whole.Model.Loss(b, b.InputOf(tensor.Int, "ids", 7), b.InputOf(tensor.Int, "targets", 7))
		require.ErrorContains(t, err, "got a parameter stored in q8_0 to train")
		require.NoError(t, g.Params.Unfreeze("*"))
		g.Params.Widen()
		for name, want := range plain.Params.All() {
			value, _ := g.Params.Get(name)
			require.Equal(t, want.Data(), value.Data(), name)
		}
	}
}

// requireSameAdapters trains adapters and one norm of two models.
func requireSameAdapters(t *testing.T, want, got *pretrained.GPT) {
	t.Helper()
	batch := train.Values{
		"ids":     tensor.New(tensor.WithShape(7), tensor.WithBacking([]int{1, 2, 3, 4, 5, 6, 7})),
		"targets": tensor.New(tensor.WithShape(7), tensor.WithBacking([]int{2, 3, 4, 5, 6, 7, 8})),
	}
	var after [2]map[string][]float64
	for i, g := range []*pretrained.GPT{want, got} {
		addAdapters(t, g, layers.LoRAConfig{Rank: 3, Whole: []string{"model.norm"}})
		b := layers.NewBuild(g.Params, layers.Train)
		ids, targets := b.InputOf(tensor.Int, "ids", 7), b.InputOf(tensor.Int, "targets", 7)
		loss := b.Of(g.Model.Loss(b, ids, targets))
		s, err := train.NewStep(b, loss, train.StepConfig{Schedule: train.ConstantRate(1e-2)})
		require.NoError(t, err)
		for range 2 {
			_, err = s.Run(batch)
			require.NoError(t, err)
		}
		after[i] = map[string][]float64{}
		for name, v := range g.Params.Own() {
			after[i][name] = dense.Float64s(v)
		}
	}
	require.Equal(t, after[0], after[1])
}
