package train_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A run that goes wrong saves nothing more, and what it had saved stays.
func TestFailedRunKeepsItsCheckpoints(t *testing.T) {
	disk := errors.New("disk on fire")
	for want, spoil := range map[string]func(c *train.Config, m *model){
		"train: checkpoint after 6 steps: disk on fire": func(c *train.Config, _ *model) {
			saves := 0
			c.BeforeSave = func() error {
				if saves++; saves == 3 {
					return disk
				}
				return nil
			}
		},
		"train: step 5: loss: got NaN, which is not finite; it began with tokens.weight": func(c *train.Config, m *model) {
			c.OnStep = func(s train.StepResult) {
				if s.N == 4 {
					require.NoError(t, m.params.Set("tokens.weight", notNumbers(vocabulary, width)))
				}
			}
		},
		// The update of the last step before a checkpoint may be what overflows.
		"train: checkpoint after 6 steps: parameter output.bias: has values that are not finite": func(c *train.Config, m *model) {
			c.OnStep = func(s train.StepResult) {
				if s.N == 5 {
					require.NoError(t, m.params.Set("output.bias", infinite(vocabulary)))
				}
			}
		},
	} {
		checkpoints := openCheckpoints(t, t.TempDir(), train.CheckpointsConfig{Every: 2})
		c, m := config(), newModel(t, tensor.Float64, 7, 0.3)
		spoil(&c, m)
		l := m.loop(t, c)
		l.SaveTo(checkpoints)
		require.EqualError(t, l.Run(context.Background(), textSources(t)["random"], nil), want)
		require.Equal(t, []int{2, 4}, stepsIn(t, checkpoints))
		found, err := checkpoints.Restore(l, textSources(t)["random"])
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, 4, l.Steps())
	}
}

func notNumbers(shape ...int) *tensor.Dense {
	d := dense(tensor.Float64, shape, nil)
	d.Memset(math.NaN())
	return d
}

// If the newest checkpoint is damaged, the error names the newest one that is not. A run
// that resumes from that one removes the damaged one.
func TestDamagedCheckpoint(t *testing.T) {
	folder := t.TempDir()
	checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{Every: 2, Keep: 4})
	c := config()
	m := newModel(t, tensor.Float32, 7, 0.3)
	l := m.loop(t, c)
	l.SaveTo(checkpoints)
	require.NoError(t, l.Run(context.Background(), textSources(t)["random"], nil))
	require.Equal(t, []int{4, 6, 8, 10}, stepsIn(t, checkpoints))
	ends := bitsOf(m.values())

	damage := func(steps int) {
		content, err := os.ReadFile(checkpoints.Path(steps))
		require.NoError(t, err)
		content[len(content)/2] ^= 16
		require.NoError(t, os.WriteFile(checkpoints.Path(steps), content, 0o644))
	}
	damage(10)
	damage(8)
	twin, source := newModel(t, tensor.Float32, 8, 0.3), textSources(t)["random"]
	before := bitsOf(twin.values())
	l = twin.loop(t, c)
	l.SaveTo(checkpoints)
	found, err := checkpoints.Restore(l, source)
	require.False(t, found)
	var damaged *train.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.ErrorIs(t, err, train.ErrDamaged)
	require.Equal(t, filepath.Join(folder, "step-00000006.safetensors"), damaged.Intact)
	require.ErrorContains(t, err, "train: checkpoint: "+checkpoints.Path(10)+": damaged: checksum: got ")
	require.ErrorContains(t, err, "; the newest intact checkpoint is "+damaged.Intact)
	require.Equal(t, before, bitsOf(twin.values()))

	require.NoError(t, l.Restore(damaged.Intact, source))
	require.NoError(t, checkpoints.Save(l, source))
	require.Equal(t, []int{4, 6}, stepsIn(t, checkpoints), "the damaged ones are gone")
	require.NoError(t, l.Run(context.Background(), source, nil))
	require.Equal(t, ends, bitsOf(twin.values()))
	require.Equal(t, []int{4, 6, 8, 10}, stepsIn(t, checkpoints))
	_, err = checkpoints.Restore(l, source)
	require.NoError(t, err)

	for _, steps := range []int{4, 6, 8, 10} {
		damage(steps)
	}
	_, err = checkpoints.Restore(l, source)
	require.ErrorContains(t, err, "; there is no other intact checkpoint")

	// A loop that does not fit is another matter.
	other := config()
	other.Solver.Name = train.Adam
	require.NoError(t, l.Save(checkpoints.Path(12), source))
	_, err = checkpoints.Restore(newModel(t, tensor.Float32, 8, 0.3).loop(t, other), source)
	require.ErrorContains(t, err, "solver: got adamw")
	require.False(t, errors.As(err, &damaged) || errors.Is(err, train.ErrDamaged))
}
