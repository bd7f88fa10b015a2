package layers_test

import (
	"hash"
	"hash/fnv"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// settings is a hash that keeps what is written: all settings of an op.
type settings struct {
	hash.Hash
	text strings.Builder
}

func (s *settings) Write(p []byte) (int, error) { return s.text.Write(p) }

// precisions returns how many products of a graph are in each precision, by the op's name.
func precisions(g *G.ExprGraph) map[string][2]int {
	counts := map[string][2]int{}
	for _, n := range g.AllNodes() {
		if n.Op() == nil {
			continue
		}
		s := settings{Hash: fnv.New32a()}
		n.Op().WriteHash(&s)
		for i, setting := range []string{"Precision:0", "Precision:1"} {
			if strings.Contains(s.text.String(), setting) {
				count := counts[n.Op().String()]
				count[i]++
				counts[n.Op().String()] = count
			}
		}
	}
	return counts
}

// precisionCases are models that have products of every kind, and the products.
func precisionCases() map[string]struct {
	loss func(t *testing.T, b *layers.Build) *G.Node
	want []string
} {
	matrix := func(v ...int) *tensor.Dense { return tensor.New(tensor.WithShape(2, 5), tensor.WithBacking(v)) }
	ids, targets := matrix(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), matrix(2, 3, 4, 5, 6, 7, 8, 9, 10, 0)
	attention := []string{"FusedAttention", "FusedAttentionBackward"}
	linear := []string{"Linear", "MatMul", "RowOuter"}
	loss := []string{"LinearCrossEntropy", "LinearCrossEntropyGradients"}
	return map[string]struct {
		loss func(t *testing.T, b *layers.Build) *G.Node
		want []string
	}{
		"GPT": {func(t *testing.T, b *layers.Build) *G.Node {
			m := must(layers.NewGPT(b.Params().Scope(""), layers.GPTConfig{VocabSize: 11, ContextLength: 5, EmbedDim: 12,
				NumLayers: 2, NumHeads: 3, Activation: "gelu_new", Bias: true}))
			return b.Of(m.Loss(b, input(t, b, "ids", ids), input(t, b, "targets", targets)))
		}, append(append(loss, attention...), linear...)},
		"Seq2Seq": {func(t *testing.T, b *layers.Build) *G.Node {
			m := must(layers.NewSeq2Seq(b.Params().Scope(""), layers.Seq2SeqConfig{SourceVocabSize: 11, TargetVocabSize: 11,
				ContextLength: 5, EmbedDim: 12, NumEncoderLayers: 1, NumDecoderLayers: 1, NumHeads: 3}))
			lengths := input(t, b, "lengths", tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{5, 3})))
			source, target := input(t, b, "source", ids), input(t, b, "ids", ids)
			return b.Of(m.Loss(b, source, target, lengths, input(t, b, "targets", targets)))
		}, append(attention, linear...)},
		"AdditiveAttention and GRU": {func(t *testing.T, b *layers.Build) *G.Node {
			additive := must(layers.NewAdditiveAttention(b.Params().Scope("additive"),
				layers.AdditiveAttentionConfig{QueryDim: 6, KeyDim: 6, AttnDim: 5}))
			gru := must(layers.NewGRU(b.Params().Scope("gru"), layers.GRUConfig{InputSize: 6, HiddenSize: 4}))
			x := input(t, b, "x", golden.Dense(tensor.Float32, make([]float64, 30), 1, 5, 6))
			out := b.Of(additive.Forward(b, x, x))
			states, _ := b.Of2(gru.Forward(b, layers.GRUInput{X: out}))
			return b.Of(G.Sum(states))
		}, []string{"Linear", "MatMul", "GRU", "GRUBackward"}},
		"Attention with weights": {func(t *testing.T, b *layers.Build) *G.Node {
			c := layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Mask: mask.Causal{}}
			l := must(layers.NewAttention(b.Params().Scope(""), c))
			x := input(t, b, "x", golden.Dense(tensor.Float32, make([]float64, 30), 1, 5, 6))
			in := layers.AttentionInput{Query: x}
			out, weights := b.Of(G.Sum(b.Of(l.Attend(b, in)))), b.Of(G.Sum(b.Of(l.Weights(b, in))))
			return b.Of(G.Add(out, weights))
		}, []string{"Linear", "Scores"}},
	}
}

// TestSetPrecision: every product of a build, and of its gradients, is in the build's precision.
func TestSetPrecision(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	for name, c := range precisionCases() {
		for i, precision := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
			b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Train)
			b.SetPrecision(precision)
			require.Equal(t, precision, b.Precision())
			loss := c.loss(t, b)
			require.NoError(t, b.Err(), name)
			must(G.Grad(loss, b.Learnables()...))
			counts := precisions(b.Graph())
			for _, op := range c.want {
				require.Positive(t, counts[op][i], "%s: %s in %v", name, op, precision)
			}
			for op, count := range counts {
				require.Zero(t, count[1-i], "%s: %s in %v", name, op, precision)
			}
		}
	}
}

// The loss in bfloat16 is near that in float32, and another one; the weights stay float32.
func TestSetPrecisionOfALoss(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	var losses [2]float64
	for i, precision := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
		b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Train)
		b.SetPrecision(precision)
		loss := precisionCases()["GPT"].loss(t, b)
		require.NoError(t, must(machine.New(loss)).RunAll())
		losses[i] = float64(loss.Value().Data().(float32))
	}
	require.InDelta(t, losses[0], losses[1], 0.01)
	require.NotEqual(t, losses[0], losses[1])
}

func TestSetPrecisionRefuses(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	for _, c := range []struct {
		dt        tensor.Dtype
		precision graph.Precision
		want      string
	}{
		{tensor.Float64, graph.BFloat16, "graph: precision: got bf16 of float64, want it of float32"},
		{tensor.Float32, 9, "graph: precision: got Precision(9), want FullPrecision or BFloat16"},
	} {
		b := layers.NewBuild(layers.NewParams(c.dt, 1), layers.Train)
		b.SetPrecision(c.precision)
		require.EqualError(t, b.Err(), c.want)
		require.Equal(t, graph.FullPrecision, b.Precision())
	}
	t.Setenv("ATTENTION_BF16", "fast")
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval)
	b.SetPrecision(graph.BFloat16)
	require.ErrorContains(t, b.Err(), `ATTENTION_BF16: got "fast", want emulated or nothing`)
}
