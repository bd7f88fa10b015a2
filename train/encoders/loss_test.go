package encoders_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/encoders"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// Batches of pairs, of triples and of pairs with scores, one text of which is cut, have the loss of
// sentence-transformers, and each gradient has its length: see testdata/encoders/losses.py.
func TestLossOfBatches(t *testing.T) {
	path, err := golden.Path("encoders", "losses.json")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var judged struct {
		Triples [][]string
		Scores  []float64
		Cases   map[string]struct {
			Loss      float64
			Gradients map[string]float64
		}
	}
	require.NoError(t, json.Unmarshal(content, &judged))
	require.Len(t, judged.Cases, 3)
	for name, want := range judged.Cases {
		e, all := small(t), encoders.List{}
		for i, texts := range judged.Triples {
			example := text.Example{Texts: texts}
			if name != "triples" {
				example.Texts = texts[:2]
			}
			if name == "scores" {
				example.Score = &judged.Scores[i]
			}
			all = append(all, example)
		}
		s, err := encoders.NewBatches(t.Context(), e, all, encoders.Config{Batch: len(all)})
		require.NoError(t, err)
		require.Equal(t, 1, s.Summary().Cut)
		batch, err := s.Next()
		require.NoError(t, err)
		formula, err := encoders.Loss(e)
		require.NoError(t, err)
		b := layers.NewBuild(e.Params, layers.Eval)
		loss := formula(b, b.InputsOf(batch.Inputs))[0]
		require.NoError(t, b.Err())
		for input, n := range b.Inputs() {
			require.NoError(t, G.Let(n, batch.Inputs[input]))
		}
		grads, err := G.Grad(loss, b.Learnables()...)
		require.NoError(t, err)
		run, err := machine.New(append(grads, loss)...)
		require.NoError(t, err)
		require.NoError(t, run.RunAll())
		require.InDelta(t, want.Loss, loss.Value().Data().(float64), 1e-10, name)
		require.Len(t, grads, len(want.Gradients))
		for i, n := range b.Learnables() {
			square := 0.0
			for _, x := range golden.Floats(t, grads[i].Value()) {
				square += x * x
			}
			require.InDelta(t, want.Gradients[n.Name()], math.Sqrt(square), 1e-8, n.Name())
		}
	}
}
