package train_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"attention/train"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// grouped trains a small model in two processes, whose config and model a row may change.
func grouped(t *testing.T, ctx func(rank int) context.Context, change func(rank int, m *model, c *train.Config),
	source func(rank int) train.Source) []error {
	return together(t, 2, func(g train.Group) error {
		c := config()
		c.Group, c.Accumulate = g, 4
		m := newModel(t, tensor.Float64, 7, 0.3)
		change(g.Rank(), m, &c)
		l, err := train.New(m.params, m.loss, c)
		if err != nil {
			return err
		}
		return l.Run(ctx(g.Rank()), source(g.Rank()), randomBatches(3))
	})
}

func always(int) context.Context { return context.Background() }

func noChange(int, *model, *train.Config) {}

// Processes that are not alike do not begin, and the first one that differs is named.
func TestGroupRefusesUnlikeProcesses(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(rank int, m *model, c *train.Config)
		want   string
	}{
		{"config", func(rank int, _ *model, c *train.Config) { c.Seed = int64(rank) },
			"rank 1: got another config than rank 0"},
		{"about", func(rank int, _ *model, c *train.Config) {
			c.About = map[string]string{"text": string(rune('a' + rank))}
		},
			`rank 1: got another model and data than rank 0, "{\"text\":\"b\"}", want its "{\"text\":\"a\"}"`},
		{"weights", func(rank int, m *model, _ *train.Config) {
			w, _ := m.params.Get("output.bias")
			w.Float64s()[0] = float64(rank)
		}, "rank 1: got another weights' checksum than rank 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			steps := 0
			change := func(rank int, m *model, c *train.Config) {
				row.change(rank, m, c)
				if rank == 0 {
					c.OnStep = func(train.StepResult) { steps++ }
				}
			}
			errs := grouped(t, always, change, func(int) train.Source { return textSources(t)["random"] })
			for _, err := range errs {
				require.ErrorContains(t, err, "train: group: "+row.want)
			}
			require.Zero(t, steps)
		})
	}
	errs := grouped(t, always, noChange, func(rank int) train.Source {
		s := textSources(t)["in order"]
		for range rank {
			_, err := s.Next()
			require.NoError(t, err)
		}
		return s
	})
	for _, err := range errs {
		require.ErrorContains(t, err, "train: group: rank 1: got another position in the data than rank 0")
	}
}

// An error of one process is that of all, which names it.
func TestGroupNamesTheProcessThatFails(t *testing.T) {
	failing := func(rank int) train.Source {
		if rank == 0 {
			return randomBatches(100)
		}
		s := randomBatches(100)
		s.list[7].Tokens = 0 // the last one of the second step
		return s
	}
	for _, err := range grouped(t, always, noChange, failing) {
		require.EqualError(t, err, "train: step 2: rank 1: micro-batch 4 of 4: tokens: got 0, "+
			"want the number of targets that count, at least 1")
	}
	ended := func(rank int) train.Source { return randomBatches(100 - 98*rank) }
	for _, err := range grouped(t, always, noChange, ended) {
		require.EqualError(t, err, "train: step 1: rank 1: micro-batch 3 of 4: batch: the source has ended, "+
			"want another batch: unexpected EOF")
	}
	nan := func(rank int, m *model, c *train.Config) {
		c.OnStep = func(s train.StepResult) {
			if w, _ := m.params.Get("output.bias"); rank == 1 && s.Step == 3 {
				w.Float64s()[0] *= 1e300
				w.Float64s()[0] *= 1e300
			}
		}
	}
	for _, err := range grouped(t, always, nan, func(int) train.Source { return randomBatches(100) }) {
		require.ErrorIs(t, err, train.ErrNotFinite)
		require.ErrorContains(t, err, "train: step 4: rank 1: micro-batch 3 of 4: loss: got ")
	}
}

// The end of one process's context stops all of them after the same step, with a checkpoint.
func TestGroupStopsTogether(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	checkpoints := openCheckpoints(t, t.TempDir(), train.CheckpointsConfig{})
	errs := together(t, 3, func(g train.Group) error {
		c := config()
		c.Group, c.Accumulate = g, 4
		own := context.Background()
		if g.Rank() == 2 {
			own = ctx
			c.OnStep = func(s train.StepResult) {
				if s.Step == 4 {
					cancel()
				}
			}
		}
		m := newModel(t, tensor.Float64, 7, 0.3)
		l, err := train.New(m.params, m.loss, c)
		if err != nil {
			return err
		}
		if g.Rank() == 0 {
			l.SaveTo(checkpoints)
		}
		return l.Run(own, textSources(t)["random"], nil)
	})
	for _, err := range errs {
		require.ErrorIs(t, err, context.Canceled)
		require.EqualError(t, err, "train: stopped after 4 of 10 steps: context canceled")
	}
	require.Equal(t, []int{4}, stepsIn(t, checkpoints))
}

// A checkpoint that rank 0 cannot write ends all.
func TestGroupEndsWhenItCannotSave(t *testing.T) {
	errs := together(t, 2, func(g train.Group) error {
		c := config()
		c.Group, c.Accumulate = g, 2
		c.BeforeSave = func() (map[string]string, error) {
			require.Zero(t, g.Rank())
			return nil, errors.New("disk full")
		}
		m := newModel(t, tensor.Float64, 7, 0)
		l, err := train.New(m.params, m.loss, c)
		if err != nil {
			return err
		}
		if g.Rank() == 0 {
			l.SaveTo(openCheckpoints(t, t.TempDir(), train.CheckpointsConfig{Every: 3}))
		}
		return l.Run(context.Background(), textSources(t)["random"], nil)
	})
	for _, err := range errs {
		require.EqualError(t, err, "train: rank 0: checkpoint after 3 steps: disk full")
	}
}

// Other processes than rank 0 learn that it cannot write.
func TestGroupSaves(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "x"), filepath.Join(dir, "none", "x")} {
		errs := together(t, 3, func(g train.Group) error {
			c := config()
			c.Group, c.Accumulate = g, 4
			m := newModel(t, tensor.Float64, 7, 0)
			l, err := train.New(m.params, m.loss, c)
			if err != nil {
				return err
			}
			return l.Save(path, nil)
		})
		for _, err := range errs {
			if path == filepath.Join(dir, "x") {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "train: rank 0: checkpoint after 0 steps: ")
				require.ErrorContains(t, err, "no such file")
			}
		}
	}
	require.NoError(t, newModel(t, tensor.Float64, 8, 0).loop(t, config()).Restore(filepath.Join(dir, "x"), nil))
}

// A process whose exchange fails ends the group, and nobody waits for it.
func TestGroupEndsWithItsExchange(t *testing.T) {
	errs := together(t, 3, func(g train.Group) error {
		c := config()
		c.Group, c.Accumulate = g, 4
		if g.Rank() == 1 {
			c.OnStep = func(train.StepResult) { g.Abort(errors.New("cable cut")) }
		}
		m := newModel(t, tensor.Float64, 7, 0)
		l, err := train.New(m.params, m.loss, c)
		if err != nil {
			return err
		}
		return l.Run(context.Background(), randomBatches(100), nil)
	})
	for _, err := range errs {
		require.ErrorContains(t, err, "parallel: rank 1 ended the group: cable cut")
	}
}

func TestGroupRefuses(t *testing.T) {
	group, err := parallel.NewLocal(3)
	require.NoError(t, err)
	c := config()
	c.Group, c.Accumulate = group[1], 2
	m := newModel(t, tensor.Float64, 7, 0)
	_, err = train.New(m.params, m.loss, c)
	require.EqualError(t, err,
		"train: Accumulate: got 2 for a group of 3 processes, which share the batches of a step, want at least 3")
	c.Group = &parallel.Local{}
	_, err = train.New(m.params, m.loss, c)
	require.EqualError(t, err, "train: group: got rank 0 of 0 processes, want 0 <= rank < size")
	_, err = parallel.NewLocal(0)
	require.EqualError(t, err, "parallel: processes: got 0, want 1 to 256")
	require.ErrorContains(t, group[0].Exchange(3, nil, 0, nil), "got ranks 3 and 0 of 3 processes")
	require.ErrorContains(t, group[0].Exchange(0, nil, 1, nil), "got rank 0 itself, want others")
	require.NoError(t, train.Agree(nil, nil))
	require.EqualError(t, train.Agree(nil, errors.New("alone")), "alone")
	require.NoError(t, train.Same(nil, train.Fact{Name: "text", Value: "a"}))
	require.ErrorContains(t, train.Same(&parallel.Local{}), "got rank 0 of 0 processes")
}

// The first fact that differs is told with its values, others by their names.
func TestGroupSame(t *testing.T) {
	rank0 := []train.Fact{{Name: "model", Value: "a"}, {Name: "rate", Value: "1"}, {Name: "text", Value: "\"\n"}}
	for _, row := range []struct {
		facts []train.Fact // of rank 1
		want  string
	}{
		{facts: rank0},
		{facts: []train.Fact{rank0[2], rank0[0], rank0[1]}},
		{facts: []train.Fact{{Name: "model", Value: "b"}, rank0[1], rank0[2]},
			want: `got another model than rank 0, "b", want its "a"`},
		{facts: []train.Fact{rank0[0], {Name: "dropout", Value: "0.1"}, rank0[1], rank0[2]},
			want: `got dropout "0.1", want none, as rank 0 has`},
		{facts: rank0[1:], want: `got no model, want rank 0's, "a"`},
		{facts: []train.Fact{{Name: "model", Value: "b"}, rank0[1], {Name: "seed", Value: "1"}},
			want: `got another model than rank 0, "b", want its "a"; another text, seed too`},
		{facts: []train.Fact{{Name: "1"}, {Name: "2"}, {Name: "3"}},
			want: `got no model, want rank 0's, "a"; another rate, text, 1 and 2 more too`},
		{facts: []train.Fact{rank0[0], rank0[1], {Name: "text", Value: strings.Repeat("x", 101)}},
			want: `got another text than rank 0, "` + strings.Repeat("x", 50) + `… with SHA-256 c675a2e6", want its "\"\n"`},
	} {
		group, err := parallel.NewLocal(2)
		require.NoError(t, err)
		errs := make(chan error)
		go func() { errs <- train.Same(group[1], row.facts...) }()
		for _, err := range []error{train.Same(group[0], rank0...), <-errs} {
			if row.want == "" {
				require.NoError(t, err)
				continue
			}
			require.EqualError(t, err, "train: group: rank 1: "+row.want)
		}
	}
}
