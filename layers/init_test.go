package layers_test

import (
	"math"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Layers made one after the other from seed 123 begin with PyTorch's very bits:
// nn.Linear, nn.Embedding and torch.rand, in the order they are drawn.
func TestInitialValuesArePyTorchs(t *testing.T) {
	file := golden.Load(t, "torch/layers.safetensors")
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		for _, l := range []struct {
			scope string
			make  func(s layers.Scope) (forward, error)
		}{
			{"v2", ofConfig(chapter.SelfV2(3, 2))},
			{"v2_bias", named(chapter.Config{Layer: "self_v2", EmbedDim: 3, OutDim: 7, QKVBias: true})},
			{"v1", named(chapter.Config{Layer: "self_v1", EmbedDim: 3, OutDim: 2})},
			{"causal", named(chapter.Config{Layer: "causal", EmbedDim: 5, OutDim: 3, QKVBias: true})},
			{"wrapper", named(chapter.Config{Layer: "multi_head_wrapper", EmbedDim: 5, OutDim: 2, NumHeads: 3, QKVBias: true})},
			{"mha", named(chapter.Config{Layer: "multi_head", EmbedDim: 11, OutDim: 6, NumHeads: 2, QKVBias: true})},
			{"additive", additive(3, 5, 11)},
			{"model", model(5)},
		} {
			must(l.make(params.Scope(l.scope)))
		}
		require.Equal(t, torchCase{file: file, prefix: "init." + p.label + "."}.entries(""), names(params))
		for name, v := range params.All() {
			entry := "init." + p.label + "." + name
			require.Equal(t, file.Shape(entry), []int(v.Shape()), name)
			if p.dt == tensor.Float32 {
				require.Equal(t, file.Float32(entry), v.Data(), name)
			} else {
				require.Equal(t, file.Float64(entry), v.Data(), name)
			}
		}
	}
}

// One seed, one set of values; another seed, another.
func TestSeeds(t *testing.T) {
	first := func(seed int64) any {
		p := layers.NewParams(tensor.Float64, seed)
		return must(p.Scope("").Param("w", layers.Normal(0, 1), 3, 5)).Value().Data()
	}
	require.Equal(t, first(1), first(1))
	require.NotEqual(t, first(1), first(2))
	require.NotEqual(t, first(1), first(-1))
}

func TestInits(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	values := func(name string, i layers.Init) []float64 {
		return must(p.Scope("").Param(name, i, 100, 100)).Value().Data().([]float64)
	}
	require.Equal(t, make([]float64, 10000), values("zero", layers.Init{}))
	for _, v := range values("constant", layers.Constant(-2.5)) {
		require.Equal(t, -2.5, v)
	}
	sum, squares := 0.0, 0.0
	for _, v := range values("uniform", layers.Uniform(2, 6)) {
		require.GreaterOrEqual(t, v, 2.0)
		require.Less(t, v, 6.0)
		sum += v
	}
	// 10000 draws: the mean is within 5 standard errors, the seed is fixed.
	require.InDelta(t, 4, sum/1e4, 5*4/math.Sqrt(12*1e4))
	sum = 0
	for _, v := range values("normal", layers.Normal(3, 2)) {
		sum += v
		squares += (v - 3) * (v - 3)
	}
	require.InDelta(t, 3, sum/1e4, 5*2/math.Sqrt(1e4))
	require.InDelta(t, 4, squares/1e4, 5*4*math.Sqrt(2/1e4))
}
