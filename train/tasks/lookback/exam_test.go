package lookback

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// constant is a model that gives every token the same row of scores; its last score is the largest.
func constant(t *testing.T, task Task) *layers.Decoder {
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: task.Vocabulary(), ContextLength: Context,
		EmbedDim: 2, NumLayers: 1, NumHeads: 1, Bias: true})
	require.NoError(t, err)
	for name, v := range p.All() {
		clear(v.Float32s())
		if name == "transformer.ln_f.bias" {
			v.Float32s()[0] = 1
		}
	}
	head, ok := p.Get("lm_head.weight")
	require.True(t, ok)
	head.Float32s()[2*keys] = 3 // the first value
	return m
}

// The share of right answers of a model that always gives one answer is the frequency of this answer, and its loss is
// that of its scores.
func TestExam(t *testing.T) {
	s, err := New(Recall, 200, rand.New(rand.NewPCG(3, 0)))
	require.NoError(t, err)
	marks, err := s.Exam(t.Context(), constant(t, Recall))
	require.NoError(t, err)
	again, err := New(Recall, 200, rand.New(rand.NewPCG(3, 0)))
	require.NoError(t, err)
	require.Len(t, marks, len(Recall.Levels()))
	for i, level := range Recall.Levels() {
		batch, right := again.Draw(level), 0
		for _, target := range again.targets {
			if target == keys {
				right++
			}
		}
		share := float64(right) / float64(batch.Tokens)
		require.Equal(t, level, marks[i].Level)
		require.Equal(t, share, marks[i].Exact)
		all := math.Log(math.Exp(3) + blank) // for the scores 3 and 0
		require.InDelta(t, all-3*share, marks[i].Loss, 1e-5)
	}
}
