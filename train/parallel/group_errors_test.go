package parallel_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/small"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// loops makes the loop of a small model in each process of a group and calls run with it. A test may change the config
// and the model.
func loops(t *testing.T, size int, change func(g *parallel.Group, m *small.Model, c *loop.Config),
	run func(g *parallel.Group, l *loop.Loop) error) []error {
	return small.Together(t, size, func(g *parallel.Group) error {
		c := small.Config()
		c.Group, c.Accumulate = g, 4
		m := small.New(t, tensor.Float64, 7, 0.3)
		change(g, m, &c)
		l, err := loop.New(m.Params, m.Loss, c)
		if err != nil {
			return err
		}
		return run(g, l)
	})
}

// grouped trains a small model in two processes. A row may change the config and the model.
func grouped(t *testing.T, ctx func(rank int) context.Context, change func(rank int, m *small.Model, c *loop.Config),
	source func(rank int) train.Source) []error {
	return loops(t, 2, func(g *parallel.Group, m *small.Model, c *loop.Config) { change(g.Rank(), m, c) },
		func(g *parallel.Group, l *loop.Loop) error {
			return l.Run(ctx(g.Rank()), source(g.Rank()), small.Batches(3))
		})
}

func always(int) context.Context { return context.Background() }

func noChange(int, *small.Model, *loop.Config) {}

// Processes that differ do not begin, and the error names the first one that differs.
func TestGroupRefusesUnlikeProcesses(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(rank int, m *small.Model, c *loop.Config)
		want   string
	}{
		{"config", func(rank int, _ *small.Model, c *loop.Config) { c.Seed = int64(rank) },
			"rank 1: got another config than rank 0"},
		{"about", func(rank int, _ *small.Model, c *loop.Config) {
			c.About = map[string]string{"text": string(rune('a' + rank))}
		}, `rank 1: got another model and data than rank 0, "{\"text\":\"b\"}", want its "{\"text\":\"a\"}"`},
		{"weights", func(rank int, m *small.Model, _ *loop.Config) {
			w, _ := m.Params.Get("output.bias")
			w.Float64s()[0] = float64(rank)
		}, "rank 1: got another weights' checksum than rank 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			steps := 0
			change := func(rank int, m *small.Model, c *loop.Config) {
				row.change(rank, m, c)
				if rank == 0 {
					c.OnStep = func(train.StepResult) { steps++ }
				}
			}
			errs := grouped(t, always, change, func(int) train.Source { return small.Texts(t)["random"] })
			for _, err := range errs {
				require.ErrorContains(t, err, "train: group: "+row.want)
			}
			require.Zero(t, steps)
		})
	}
	errs := grouped(t, always, noChange, func(rank int) train.Source {
		s := small.Texts(t)["in order"]
		for range rank {
			must(s.Next())
		}
		return s
	})
	for _, err := range errs {
		require.ErrorContains(t, err, "train: group: rank 1: got another position in the data than rank 0")
	}
}

// An error of one process becomes the error of all processes, and names it.
func TestGroupNamesTheProcessThatFails(t *testing.T) {
	failing := func(rank int) train.Source {
		if rank == 0 {
			return small.Batches(100)
		}
		s := small.Batches(100)
		s.List[7].Tokens = 0 // the last batch of the second step
		return s
	}
	for _, err := range grouped(t, always, noChange, failing) {
		require.EqualError(t, err, "train: step 2: rank 1: micro-batch 4 of 4: tokens: got 0, "+
			"want at least 1: the targets that count")
	}
	ended := func(rank int) train.Source { return small.Batches(100 - 98*rank) }
	for _, err := range grouped(t, always, noChange, ended) {
		require.EqualError(t, err, "train: step 1: rank 1: micro-batch 3 of 4: batch: the source has ended, "+
			"want another batch: unexpected EOF")
	}
	nan := func(rank int, m *small.Model, c *loop.Config) {
		c.OnStep = func(s train.StepResult) {
			if w, _ := m.Params.Get("output.bias"); rank == 1 && s.Step == 3 {
				w.Float64s()[0] *= 1e300
				w.Float64s()[0] *= 1e300
			}
		}
	}
	for _, err := range grouped(t, always, nan, func(int) train.Source { return small.Batches(100) }) {
		require.ErrorIs(t, err, train.ErrNotFinite)
		require.ErrorContains(t, err, "train: step 4: rank 1: micro-batch 3 of 4: loss: got ")
	}
}

// The end of one process's context stops all of them after the same step, with a checkpoint.
func TestGroupStopsTogether(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	checkpoints := small.OpenFolder(t, t.TempDir(), checkpoint.Config{})
	errs := loops(t, 3, func(g *parallel.Group, _ *small.Model, c *loop.Config) {
		c.OnStep = func(s train.StepResult) {
			if g.Rank() == 2 && s.Step == 4 {
				cancel()
			}
		}
	}, func(g *parallel.Group, l *loop.Loop) error {
		if g.Rank() == 0 {
			l.SaveTo(checkpoints)
		}
		if g.Rank() < 2 {
			return l.Run(context.Background(), small.Texts(t)["random"], nil)
		}
		return l.Run(ctx, small.Texts(t)["random"], nil)
	})
	for _, err := range errs {
		require.ErrorIs(t, err, context.Canceled)
		require.EqualError(t, err, "train: stopped after 4 of 10 steps: context canceled")
	}
	require.Equal(t, []int{4}, small.StepsIn(t, checkpoints))
}

// If rank 0 cannot write a checkpoint, all processes end.
func TestGroupEndsWhenItCannotSave(t *testing.T) {
	errs := loops(t, 2, func(g *parallel.Group, _ *small.Model, c *loop.Config) {
		c.BeforeSave = func() (map[string]string, error) {
			require.Zero(t, g.Rank())
			return nil, errors.New("disk full")
		}
	}, func(g *parallel.Group, l *loop.Loop) error {
		if g.Rank() == 0 {
			l.SaveTo(small.OpenFolder(t, t.TempDir(), checkpoint.Config{Every: 3}))
		}
		return l.Run(context.Background(), small.Texts(t)["random"], nil)
	})
	for _, err := range errs {
		require.EqualError(t, err, "train: rank 0: checkpoint after 3 steps: disk full")
	}
}

// The other processes learn that rank 0 cannot write.
func TestGroupSaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	save := func(path string) []error {
		return loops(t, 3, func(*parallel.Group, *small.Model, *loop.Config) {},
			func(_ *parallel.Group, l *loop.Loop) error { return checkpoint.Save(l, path, nil) })
	}
	small.RequireNone(t, save(path))
	for _, err := range save(filepath.Join(filepath.Dir(path), "none", "x")) {
		require.ErrorContains(t, err, "train: rank 0: checkpoint after 0 steps: ")
		require.ErrorContains(t, err, "no such file")
	}
	require.NoError(t, small.Restore(small.New(t, tensor.Float64, 8, 0).Loop(t, small.Config()), path, nil))
}

// A process whose exchange fails ends the group, and no process waits for it.
func TestGroupEndsWithItsExchange(t *testing.T) {
	errs := loops(t, 3, func(g *parallel.Group, _ *small.Model, c *loop.Config) {
		if g.Rank() == 1 {
			c.OnStep = func(train.StepResult) { g.Abort(errors.New("cable cut")) }
		}
	}, func(_ *parallel.Group, l *loop.Loop) error {
		return l.Run(context.Background(), small.Batches(100), nil)
	})
	for _, err := range errs {
		require.ErrorContains(t, err, "parallel: rank 1 ended the group: cable cut")
	}
}

func TestGroupRefuses(t *testing.T) {
	group := must(parallel.NewLocal(3))
	c := small.Config()
	c.Group, c.Accumulate = group[1], 2
	m := small.New(t, tensor.Float64, 7, 0)
	_, err := loop.New(m.Params, m.Loss, c)
	require.EqualError(t, err,
		"train: Accumulate: got 2 for a group of 3 processes, which share the batches of a step, want at least 3")
	_, err = parallel.New(nobody{})
	require.EqualError(t, err, "parallel: group: got rank 0 of 0 processes, want 0 <= rank < size")
	_, err = parallel.New(nil)
	require.EqualError(t, err, "parallel: group: got nil for the transport, want one")
	_, err = parallel.NewLocal(0)
	require.EqualError(t, err, "parallel: processes: got 0, want 1 to 256")
	require.ErrorContains(t, group[0].Exchange(3, nil, 0, nil), "got ranks 3 and 0 of 3 processes")
	require.ErrorContains(t, group[0].Exchange(0, nil, 1, nil), "got rank 0 itself, want another")
	alone := must(parallel.NewLocal(1))
	require.NoError(t, alone[0].Agree(nil))
	require.EqualError(t, alone[0].Agree(errors.New("alone")), "alone")
	require.NoError(t, alone[0].Same("text", "a"))
	require.NoError(t, alone[0].Close())
}

// nobody is a transport without processes.
type nobody struct{ parallel.Transport }

func (nobody) Rank() int { return 0 }
func (nobody) Size() int { return 0 }

// The error gives the values of the first fact that differs, and the names of the others.
func TestGroupSame(t *testing.T) {
	model, rate, text := []string{"model", "a"}, []string{"rate", "1"}, []string{"text", "\"\n"}
	rank0 := slices.Concat(model, rate, text)
	for _, row := range []struct {
		facts []string // of rank 1
		want  string
	}{
		{facts: rank0},
		{facts: slices.Concat(text, model, rate)},
		{facts: slices.Concat([]string{"model", "b"}, rate, text), want: `got another model than rank 0, "b", want its "a"`},
		{facts: slices.Concat(model, []string{"dropout", "0.1"}, rate, text),
			want: `got dropout "0.1", want none, as rank 0 has`},
		{facts: slices.Concat(rate, text), want: `got no model, want rank 0's, "a"`},
		{facts: slices.Concat([]string{"model", "b"}, rate, []string{"seed", "1"}),
			want: `got another model than rank 0, "b", want its "a"; another text, seed too`},
		{facts: []string{"1", "", "2", "", "3", ""},
			want: `got no model, want rank 0's, "a"; another rate, text, 1 and 2 more too`},
		{facts: slices.Concat(model, rate, []string{"text", strings.Repeat("x", 101)}),
			want: `got another text than rank 0, "` + strings.Repeat("x", 50) + `… with SHA-256 c675a2e6", want its "\"\n"`},
	} {
		group := must(parallel.NewLocal(2))
		errs := make(chan error)
		go func() { errs <- group[1].Same(row.facts...) }()
		for _, err := range []error{group[0].Same(rank0...), <-errs} {
			if row.want == "" {
				require.NoError(t, err)
				continue
			}
			require.EqualError(t, err, "train: group: rank 1: "+row.want)
		}
	}
}

// Processes that call different methods get the same error, which names them, or the group ends with one error.
func TestGroupOfDifferentCalls(t *testing.T) {
	for _, row := range []struct {
		name  string
		other func(g *parallel.Group) error // of rank 1
		want  string
	}{
		{"a comparison", func(g *parallel.Group) error {
			if err := g.Agree(nil); err != nil { // the first exchange of Same
				return err
			}
			return g.Same("task", "x")
		}, "rank 1: sends a text to compare where rank 0 agrees on errors: the two do not do the same"},
		{"other bytes", func(g *parallel.Group) error {
			if err := g.Agree(nil); err != nil {
				return err
			}
			if err := g.Agree(nil); err != nil {
				return err
			}
			_, err := g.Gather([]byte{1}, []int{1, 1})
			return err
		}, "the two do not do the same"},
		{"nothing", func(g *parallel.Group) error { return g.Close() }, "rank 1 has left the group"},
	} {
		t.Run(row.name, func(t *testing.T) {
			errs := small.Together(t, 2, func(g *parallel.Group) error {
				if g.Rank() == 1 {
					return row.other(g)
				}
				for range 4 {
					if err := g.Agree(nil); err != nil {
						return err
					}
				}
				return nil
			})
			require.ErrorContains(t, errs[0], row.want)
			if row.name != "nothing" {
				require.Error(t, errs[1])
			}
		})
	}
}
