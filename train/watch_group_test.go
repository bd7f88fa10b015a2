package train_test

import (
	"context"
	"errors"
	"testing"

	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// One process of a group records the same bytes as a process alone, and its error ends the run of all.
func TestGroupRecords(t *testing.T) {
	record := func(g train.Group, folder string, wc func(*model) train.WatchConfig) error {
		m := newModel(t, tensor.Float32, 4, 0.3)
		c := config()
		c.EvalEvery, c.Accumulate, c.Group = 3, 4, g
		l, err := train.New(m.params, m.loss, c)
		if err == nil && folder != "" {
			var w *train.Watch
			if w, err = train.OpenWatch(folder, wc(m)); err != nil {
				return err
			}
			defer w.Close()
			err = l.WatchTo(w)
		}
		if err != nil {
			return err
		}
		return l.Run(context.Background(), &resumable{}, randomBatches(4))
	}
	alone, shared := t.TempDir(), t.TempDir()
	require.NoError(t, record(nil, alone, (*model).watchConfig))
	inFirst := func(folder string, wc func(*model) train.WatchConfig) []error {
		return together(t, 3, func(g train.Group) error {
			if g.Rank() > 0 {
				return record(g, "", wc)
			}
			return record(g, folder, wc)
		})
	}
	requireNone(t, inFirst(shared, (*model).watchConfig))
	require.Equal(t, watchFiles(t, alone), watchFiles(t, shared))

	full := errors.New("full")
	records := 0
	for rank, err := range inFirst(t.TempDir(), func(m *model) train.WatchConfig {
		c := m.watchConfig()
		probe := c.Probe
		c.Probe = func(b *layers.Build) (train.Probe, error) {
			p, err := probe(b)
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
			require.EqualError(t, err, "train: watch: record after 6 steps: probe: full")
			require.ErrorIs(t, err, full)
			continue
		}
		require.Error(t, err, "rank %d", rank)
	}
}
