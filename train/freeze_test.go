package train_test

import (
	"context"
	"path/filepath"
	"testing"

	"attention/internal/safetensors"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// frozenLoop is a loop over a new model of which the patterns freeze a part.
func frozenLoop(t *testing.T, c train.Config, freeze ...string) (*model, *train.Loop) {
	m := newModel(t, tensor.Float64, 7, 0.3)
	require.NoError(t, m.params.Freeze(freeze...))
	return m, m.loop(t, c)
}

// Frozen parameters have no gradient, no state and no copy, and weight decay leaves them alone.
func TestFrozenParametersStay(t *testing.T) {
	c := config()
	c.Solver.WeightDecay, c.ClipNorm, c.EvalEvery, c.KeepBest = 0.5, 1, 1, true
	m, l := frozenLoop(t, c, "tokens", "attention.W_*")
	_, all := frozenLoop(t, c)
	trained := 8 * (m.params.Count() - m.params.CountFrozen())
	require.Equal(t, 8*m.params.CountFrozen(), 8*(vocabulary*width+3*attended*width))
	got, whole := l.Memory(), all.Memory()
	require.Equal(t, []int{8*m.params.Count() + trained, trained, 2*trained + 8},
		[]int{got.Weights, got.Gradients, got.Solver})
	require.Less(t, got.Gradients+got.Graphs, whole.Gradients+whole.Graphs)

	before := m.values()
	require.NoError(t, l.Run(context.Background(), randomBatches(trainedSteps), randomBatches(2)))
	for name, now := range m.values() {
		require.Equal(t, m.params.Frozen(name), bitsOf(before)[name][0] == bitsOf(m.values())[name][0], name)
		if m.params.Frozen(name) {
			require.Equal(t, before[name], now, name)
		}
	}
	require.NoError(t, m.params.Freeze("*"))
	_, err := train.New(m.params, m.loss, c)
	require.EqualError(t, err,
		"train: train graph: loss: depends on none of the 0 parameters that are not frozen, want at least one")
}

// A resumed run has the same parameters frozen, and ends with the same bits.
func TestFrozenRunResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	for name, c := range checkpointRuns() {
		c.Solver.Groups = []train.ParamGroup{{Params: "output", LRFactor: new(3.0)}}
		m, _ := frozenLoop(t, c, "tokens")
		source := textSources(t)["random"]
		var l *train.Loop
		c.OnStep = func(s train.StepResult) {
			if s.Step == 5 {
				require.NoError(t, l.Save(path, source), name)
			}
		}
		l = m.loop(t, c)
		require.NoError(t, l.Run(context.Background(), source, nil), name)

		c.OnStep = nil
		twin, l := frozenLoop(t, c, "tokens")
		require.NoError(t, l.Restore(path, source), name)
		require.NoError(t, l.Run(context.Background(), source, nil), name)
		require.Equal(t, bitsOf(m.values()), bitsOf(twin.values()), name)

		for _, other := range []struct {
			reason, want string
			freeze       []string
		}{
			{reason: "none", want: "got tokens.weight, want the loop's none"},
			{reason: "another", freeze: []string{"positions"}, want: "got tokens.weight, want the loop's positions.weight"},
			{reason: "most", freeze: []string{"tokens", "attention"},
				want: "got tokens.weight, want the loop's tokens.weight, attention.W_query.weight, " +
					"attention.W_key.weight and 3 more"},
		} {
			stranger, l := frozenLoop(t, c, other.freeze...)
			before := bitsOf(stranger.values())
			require.EqualError(t, l.Restore(path, source),
				"train: checkpoint: "+path+": frozen parameters: "+other.want, other.reason)
			require.Equal(t, before, bitsOf(stranger.values()))
		}
		c.Solver.Groups = []train.ParamGroup{{Params: "output", LRFactor: new(0.3)}}
		_, l = frozenLoop(t, c, "tokens")
		require.ErrorContains(t, l.Restore(path, source), "; output: lr_factor=3), want the loop's ", name)
	}
	f, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `["tokens.weight"]`, f.Metadata["frozen"])
	f.Metadata["frozen"] = "x"
	writeSealed(t, path, f)
	_, l := frozenLoop(t, config(), "tokens")
	require.ErrorContains(t, l.Restore(path, nil), "frozen: not JSON")
}
