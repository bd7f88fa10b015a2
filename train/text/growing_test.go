package text_test

import (
	"testing"

	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

var growing = text.GrowingConfig{
	Windows: text.WindowConfig{Batch: 2, Context: 12}, Accumulate: 2,
	Growth: []text.GrowthStage{{Context: 3, Steps: 2}, {Context: 6, Steps: 1}},
}

// A batch contains as many windows of the stage's length as hold its number of tokens.
func TestGrowingWindows(t *testing.T) {
	w, err := text.NewGrowingWindows(countingIDs(10000), growing, 1)
	require.NoError(t, err)
	for _, n := range []int{3, 3, 3, 3, 6, 6, 12, 12} {
		b, err := w.Next()
		require.NoError(t, err)
		require.Equal(t, 24, b.Tokens)
		require.Len(t, b.Inputs, 2)
		for _, d := range b.Inputs {
			require.Equal(t, tensor.Int, d.Dtype())
			require.Equal(t, tensor.Shape{24 / n, n}, d.Shape())
		}
		inputs, targets := copies(b)
		begins := map[int]bool{}
		for i, id := range inputs {
			require.Equal(t, inputs[i/n*n]+i%n, id)
			require.Equal(t, id+1, targets[i])
			begins[inputs[i/n*n]] = true
		}
		require.Len(t, begins, 24/n, "windows are drawn each for itself")
	}
}

// Without stages a GrowingWindows returns the batches of a Windows.
func TestGrownWindowsAreWindows(t *testing.T) {
	ids := countingIDs(1000)
	g, err := text.NewGrowingWindows(ids, text.GrowingConfig{Windows: growing.Windows}, 5)
	require.NoError(t, err)
	w, err := text.NewWindows(ids, growing.Windows, 5)
	require.NoError(t, err)
	for range 5 {
		inputs, targets := copies(next(t, g))
		wantInputs, wantTargets := copies(next(t, w))
		require.Equal(t, wantInputs, inputs)
		require.Equal(t, wantTargets, targets)
	}
}

func next(t *testing.T, s train.Source) train.Batch {
	b, err := s.Next()
	require.NoError(t, err)
	return b
}

func TestGrowingWindowsResume(t *testing.T) {
	source := func(seed uint64) *text.GrowingWindows {
		w, err := text.NewGrowingWindows(countingIDs(1000), growing, seed)
		require.NoError(t, err)
		return w
	}
	for drawn := range 8 {
		first, second := source(7), source(8)
		for range drawn {
			next(t, first)
		}
		state := first.State()
		require.ErrorContains(t, second.SetState(state[:7]), "text: growing windows: state: got 7 bytes")
		require.ErrorContains(t, second.SetState(state[:9]), "text: windows: state of 1 bytes: ")
		require.ErrorContains(t, second.SetState(append([]byte{255}, state[1:]...)), "text: state of a source: got position")
		require.NoError(t, second.SetState(state))
		for range 8 {
			want, got := next(t, first), next(t, second)
			for name := range want.Inputs {
				require.Equal(t, want.Inputs[name].Ints(), got.Inputs[name].Ints(), name)
			}
		}
	}
}

func TestGrowingConfigIsRefused(t *testing.T) {
	for want, change := range map[string]func(c *text.GrowingConfig){
		"Windows.Batch: got 0, want at least 1":     func(c *text.GrowingConfig) { c.Windows.Batch = 0 },
		"Accumulate: got -1, want at least 0":       func(c *text.GrowingConfig) { c.Accumulate = -1 },
		"Growth[0].Steps: got 0, want at least 1":   func(c *text.GrowingConfig) { c.Growth = []text.GrowthStage{{3, 0}} },
		"Growth[0].Context: got 0, want at least 1": func(c *text.GrowingConfig) { c.Growth = []text.GrowthStage{{0, 1}} },
		"Growth[0].Context: got 12, want a divisor of the context of 12, and less": func(c *text.GrowingConfig) {
			c.Growth = []text.GrowthStage{{12, 1}}
		},
		"Growth[1].Context: got 5, want a divisor of the context of 12, and less": func(c *text.GrowingConfig) {
			c.Growth = []text.GrowthStage{{3, 1}, {5, 1}}
		},
		"Growth[1].Context: got 3 after 3, want longer windows in each stage": func(c *text.GrowingConfig) {
			c.Growth = []text.GrowthStage{{3, 1}, {3, 1}}
		},
		"Growth: got it for windows of which only the last target counts": func(c *text.GrowingConfig) { c.Windows.LastOnly = true },
	} {
		c := growing
		change(&c)
		_, err := text.NewGrowingWindows(countingIDs(100), c, 1)
		require.ErrorContains(t, err, "text: growing windows: "+want)
	}
	corpus := &text.Corpus{Training: countingIDs(100), Validation: countingIDs(20)}
	c := text.SourcesConfig{Windows: growing.Windows, Growth: growing.Growth}
	training, _, _, err := corpus.Sources(c)
	require.NoError(t, err)
	require.Equal(t, tensor.Shape{8, 3}, next(t, training).Inputs[text.Inputs].Shape())
	c.Order = text.SequentialOrder
	_, _, _, err = corpus.Sources(c)
	require.ErrorContains(t, err, "Growth: got it for windows in order or in epochs, want it for random ones")
	c.Order, c.WholeEpochs = "", true
	_, _, _, err = corpus.Sources(c)
	require.ErrorContains(t, err, "Growth: got it for windows in order or in epochs, want it for random ones")
}
