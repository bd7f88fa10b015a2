package record_test

import (
	"context"
	"errors"
	"testing"

	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/parallel"
	"attention/train/record"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// One process of a group records the same bytes as a single process, and its error ends the run in all processes.
func TestGroupRecords(t *testing.T) {
	recorded := func(g train.Group, folder string, rc func(testing.TB, *small.Model) record.Config) error {
		m := small.New(t, tensor.Float32, 4, 0.3)
		c := small.Config()
		c.EvalEvery, c.Accumulate, c.Group = 3, 4, g
		l, err := loop.New(m.Params, m.Loss, c)
		if err == nil && folder != "" {
			var w *record.Recorder
			if w, err = record.Open(l, folder, rc(t, m)); err != nil {
				return err
			}
			defer w.Close()
		}
		if err != nil {
			return err
		}
		return l.Run(context.Background(), &counter{}, small.Batches(4))
	}
	alone, shared := t.TempDir(), t.TempDir()
	require.NoError(t, recorded(nil, alone, recordConfig))
	inFirst := func(folder string, rc func(testing.TB, *small.Model) record.Config) []error {
		return small.Together(t, 3, func(g *parallel.Group) error {
			if g.Rank() > 0 {
				return recorded(g, "", rc)
			}
			return recorded(g, folder, rc)
		})
	}
	small.RequireNone(t, inFirst(shared, recordConfig))
	require.Equal(t, recordFiles(t, alone), recordFiles(t, shared))

	full := errors.New("full")
	records := 0
	for rank, err := range inFirst(t.TempDir(), func(t testing.TB, m *small.Model) record.Config {
		c := recordConfig(t, m)
		probe := c.Probe
		c.Probe = func(b *layers.Build, in layers.Inputs) (record.Probe, error) {
			p, err := probe(b, in)
			p.Numbers = func([]*tensor.Dense) (map[string][]float64, error) {
				if records++; records == 3 {
					return nil, full
				}
				return nil, nil
			}
			return p, err
		}
		return c
	}) {
		if rank == 0 {
			require.EqualError(t, err, "train: record after 6 steps: probe: full")
			require.ErrorIs(t, err, full)
			continue
		}
		require.Error(t, err, "rank %d", rank)
	}
}
