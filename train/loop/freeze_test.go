package loop_test

import (
	"context"
	"path/filepath"
	"testing"

	"attention/internal/safetensors"
	"attention/internal/small"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// frozenLoop is a loop over a new model, with the parameters frozen that the patterns match.
func frozenLoop(t *testing.T, c loop.Config, freeze ...string) (*small.Model, *loop.Loop) {
	m := small.New(t, tensor.Float64, 7, 0.3)
	require.NoError(t, m.Params.Freeze(freeze...))
	return m, m.Loop(t, c)
}

// Frozen parameters have no gradient, no state and no copy, and weight decay leaves them alone.
func TestFrozenParametersStay(t *testing.T) {
	c := small.Config()
	c.Solver.WeightDecay, c.ClipNorm, c.EvalEvery, c.KeepBest = 0.5, 1, 1, true
	m, l := frozenLoop(t, c, "tokens", "attention.W_*")
	_, all := frozenLoop(t, c)
	trained := 8 * (m.Params.Count() - m.Params.CountFrozen())
	require.Equal(t, 8*m.Params.CountFrozen(), 8*(small.Vocabulary*small.Width+3*small.Attended*small.Width))
	got, whole := l.Memory(), all.Memory()
	require.Equal(t, []int{8*m.Params.Count() + trained, trained, 2*trained + 8},
		[]int{got.Weights, got.Gradients, got.Solver})
	require.Less(t, got.Gradients+got.Graphs, whole.Gradients+whole.Graphs)

	before := m.Values()
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), small.Batches(2)))
	for name, now := range m.Values() {
		require.Equal(t, m.Params.Frozen(name), small.Bits(before)[name][0] == small.Bits(m.Values())[name][0], name)
		if m.Params.Frozen(name) {
			require.Equal(t, before[name], now, name)
		}
	}
	require.NoError(t, m.Params.Freeze("*"))
	_, err := loop.New(m.Params, m.Loss, c)
	require.EqualError(t, err, "train: parameters: got none, want at least one")
}

// A resumed run has the same frozen parameters, and ends with the same bits.
func TestFrozenRunResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	for name, c := range small.Runs() {
		c.Solver.Groups = []train.ParamGroup{{Params: "output", LRFactor: new(3.0)}}
		m, _ := frozenLoop(t, c, "tokens")
		source := small.Texts(t)["random"]
		var l *loop.Loop
		c.OnStep = func(s train.StepResult) {
			if s.Step == 5 {
				require.NoError(t, checkpoint.Save(l, path, source), name)
			}
		}
		l = m.Loop(t, c)
		require.NoError(t, l.Run(context.Background(), source, nil), name)

		c.OnStep = nil
		twin, l := frozenLoop(t, c, "tokens")
		require.NoError(t, small.Restore(l, path, source), name)
		require.NoError(t, l.Run(context.Background(), source, nil), name)
		require.Equal(t, small.Bits(m.Values()), small.Bits(twin.Values()), name)

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
			before := small.Bits(stranger.Values())
			require.EqualError(t, small.Restore(l, path, source),
				"train: checkpoint: "+path+": frozen parameters: "+other.want, other.reason)
			require.Equal(t, before, small.Bits(stranger.Values()))
		}
		c.Solver.Groups = []train.ParamGroup{{Params: "output", LRFactor: new(0.3)}}
		_, l = frozenLoop(t, c, "tokens")
		require.ErrorContains(t, small.Restore(l, path, source), "; output: lr_factor=3), want the loop's ", name)
	}
	f := must(safetensors.ReadFile(path))
	require.Equal(t, `["tokens.weight"]`, small.State(f, "frozen"))
	small.SetState(f, "frozen", "1")
	small.WriteSealed(t, path, f)
	_, l := frozenLoop(t, small.Config(), "tokens")
	require.ErrorContains(t, small.Restore(l, path, nil), "frozen: got 1, want a list")
}
