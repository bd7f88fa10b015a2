package layers_test

import (
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The loss and all gradients of models with several blocks and dropout have the same bits with and without checkpoints
// of the blocks, in every run, and need less memory with them.
func TestCheckpointBlocks(t *testing.T) {
	matrix := func(v ...int) *tensor.Dense { return of(v, 2, 5) }
	ids, targets := matrix(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), matrix(2, 3, 4, 5, 6, 7, 8, 9, 10, 0)
	for _, model := range []struct {
		name  string
		build func(s layers.Scope, b func() *layers.Build) (*layers.Build, *G.Node)
	}{
		{name: "GPT", build: func(s layers.Scope, b func() *layers.Build) (*layers.Build, *G.Node) {
			m := must(layers.NewGPT(s, layers.GPTConfig{VocabSize: 11, ContextLength: 5, EmbedDim: 12, NumLayers: 4,
				NumHeads: 3, Activation: "gelu_new", Bias: true, TieWordEmbeddings: true, EmbeddingDropout: 0.2,
				AttentionDropout: 0.3, ResidualDropout: 0.4}))
			build := b()
			return build, build.Of(m.Loss(build, input(t, build, "ids", ids), input(t, build, "targets", targets)))
		}},
		{name: "Seq2Seq", build: func(s layers.Scope, b func() *layers.Build) (*layers.Build, *G.Node) {
			m := must(layers.NewSeq2Seq(s, layers.Seq2SeqConfig{SourceVocabSize: 11, TargetVocabSize: 11,
				ContextLength: 5, EmbedDim: 12, NumEncoderLayers: 3, NumDecoderLayers: 3, NumHeads: 3, Dropout: 0.3}))
			build := b()
			lengths := input(t, build, "lengths", of([]int{5, 3}, 2))
			source, target := input(t, build, "source", ids), input(t, build, "ids", ids)
			return build, build.Of(m.Loss(build, source, target, lengths, input(t, build, "targets", targets)))
		}},
	} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			t.Run(model.name+"/"+dt.String(), func(t *testing.T) {
				run := func(checkpoint bool) (results []any, m *machine.Machine) {
					p := layers.NewParams(dt, 5)
					b, loss := model.build(p.Scope(""), func() *layers.Build {
						b := layers.NewBuild(p, layers.Train)
						if checkpoint {
							b.CheckpointBlocks()
						}
						return b
					})
					require.NoError(t, b.Err())
					grads := must(G.Grad(loss, b.Learnables()...))
					m = must(machine.New(append(grads, loss)...))
					for key := range int64(2) {
						require.NoError(t, G.Let(b.DropoutKey(), key))
						require.NoError(t, m.RunAll())
						results = append(results, loss.Value().Data())
						for _, n := range grads {
							results = append(results, golden.Floats(t, n.Value()))
						}
					}
					return results, m
				}
				want, whole := run(false)
				got, again := run(true)
				require.Equal(t, want, got)
				require.NotEqual(t, want[0], want[len(want)/2], "dropout of another key")
				require.Less(t, again.Memory().Planned, whole.Memory().Planned)
			})
		}
	}
}
