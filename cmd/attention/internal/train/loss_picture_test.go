package train

import (
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// TestMeanLosses: groups of one size, the last one smaller.
func TestMeanLosses(t *testing.T) {
	var steps []train.StepResult
	for n := range 7 {
		steps = append(steps, train.StepResult{Step: n + 1, Loss: float64(10 * n)})
	}
	require.Equal(t, plotter.XYs{{X: 2, Y: 10}, {X: 5, Y: 40}, {X: 7, Y: 60}}, meanLosses(steps, 3))
	require.Len(t, meanLosses(steps, 100), 7)
	require.Empty(t, meanLosses(nil, 100))
}

// TestCurvesNameLastValues: the legend has the values with which the curves end, as the table of losses has them.
func TestCurvesNameLastValues(t *testing.T) {
	r := &training{corpus: &settings.Corpus{Corpus: &text.Corpus{NGram: &text.NGram{Unigram: 2.5, Bigram: 2}}},
		Session: &session.Session{Last: &loop.Evaluation{Step: 60, Loss: 1.4}}}
	for n := range 60 {
		r.History.Steps = append(r.History.Steps, train.StepResult{Step: n + 1, Loss: float64(n), TokensPerSecond: 1})
	}
	r.History.Evaluations = []loop.Evaluation{{Step: 30, Loss: 1.9}, {Step: 60, Loss: 1.5}}
	var names []string
	for _, c := range r.curves() {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"unigram 2.5000", "bigram 2.0000", "", "training 34.5000", "validation 1.5000",
		"whole validation text 1.4000"}, names)
}
