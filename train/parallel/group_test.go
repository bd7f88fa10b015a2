package parallel_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// groupRuns are solvers with and without clipping, with steps of 2ᵏ micro-batches and of other numbers.
func groupRuns() map[string]loop.Config {
	runs := map[string]loop.Config{}
	for name, c := range small.Runs() {
		for _, n := range []int{4, 7} {
			c.Accumulate = n
			runs[fmt.Sprintf("%s.%d", name, n)] = c
		}
	}
	return runs
}

// ending is the result of a run.
type ending struct {
	trail  small.Trail
	values map[string][]uint64
}

// trained trains a small language model with dropout, evaluations and KeepBest.
func trained(t *testing.T, dtype tensor.Dtype, c loop.Config) (ending, error) {
	var o ending
	o.trail.Follow(&c)
	c.EvalEvery, c.KeepBest = 3, true
	m := small.New(t, dtype, 7, 0.3)
	l, err := loop.New(m.Params, m.Loss, c)
	if err == nil {
		err = l.Run(context.Background(), small.Texts(t)["random"], small.Batches(5))
	}
	if err == nil {
		o.values = small.Bits(m.Values())
	}
	return o, err
}

// A run has the same bits with any number of processes, in each process.
func TestGroupGivesTheSameBits(t *testing.T) {
	for name, c := range groupRuns() {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			if testing.Short() && dtype == tensor.Float64 {
				continue
			}
			t.Run(name+"."+dtype.String(), func(t *testing.T) {
				want := must(trained(t, dtype, c))
				for _, size := range []int{2, 3, 4} {
					got := make([]ending, size)
					small.RequireNone(t, small.Together(t, size, func(g *parallel.Group) (err error) {
						c := c
						c.Group = g
						got[g.Rank()], err = trained(t, dtype, c)
						return err
					}))
					for rank := range got {
						require.Equal(t, want, got[rank], "rank %d of %d", rank, size)
					}
				}
			})
		}
	}
}

// wide is a model whose parameters have several blocks; the last one is shorter.
type wide struct {
	params         *layers.Params
	hidden, output *layers.Linear
}

const wideIn, wideHidden, wideOut = 9, 9001, 8

func newWide(t testing.TB, dtype tensor.Dtype, seed int64) wide {
	p := layers.NewParams(dtype, seed)
	hidden := must(layers.NewLinear(p.Scope("hidden"),
		layers.LinearConfig{InFeatures: wideIn, OutFeatures: wideHidden, Bias: true}))
	output := must(layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: wideHidden, OutFeatures: wideOut}))
	return wide{p, hidden, output}
}

// loss is mean((tanh(hidden(x))·W − y)²).
func (w wide) loss(b *layers.Build, in layers.Inputs) []*G.Node {
	h := b.Of(G.Tanh(b.Of(w.hidden.Forward(b, in["x"]))))
	return b.Nodes(graph.MSE(b.Of(w.output.Forward(b, h)), in["y"], graph.LossConfig{}))
}

// rows are random data for wide.
func (w wide) rows(t testing.TB) *train.Batches {
	const n = 40
	p := layers.NewParams(w.params.Dtype(), 5)
	rows := must(train.NewBatches(train.Values{"x": p.Draw(layers.Normal(0, 1), n, wideIn),
		"y": p.Draw(layers.Normal(0, 1), n, wideOut)}, train.BatchConfig{BatchSize: 1, Shuffle: true}))
	return rows
}

// wideConfig configures a run that saves and clips.
func wideConfig(solver train.SolverConfig, n int) loop.Config {
	c := small.Config()
	c.Steps, c.Accumulate, c.Solver, c.ClipNorm = 6, n, solver, 0.3
	return c
}

// resumed trains wide in the processes of a group up to the given number of steps and saves. It starts from the newest
// checkpoint of a folder, if there is one, and returns the weights' bits.
func resumed(t *testing.T, folder string, dtype tensor.Dtype, c loop.Config, size int) map[string][]uint64 {
	checkpoints := small.OpenFolder(t, folder, checkpoint.Config{Every: 2, Keep: 9})
	defer checkpoints.Close()
	steps := must(checkpoints.Steps())
	values := make([]map[string][]uint64, size)
	small.RequireNone(t, small.Together(t, size, func(g *parallel.Group) error {
		c := c
		c.Group = g
		w := newWide(t, dtype, 3)
		l, err := loop.New(w.params, w.loss, c)
		if err != nil {
			return err
		}
		rows := w.rows(t)
		if g.Rank() == 0 {
			l.SaveTo(checkpoints)
		}
		if len(steps) > 0 {
			if err := small.Restore(l, checkpoints.Path(steps[len(steps)-1]), rows); err != nil {
				return err
			}
		}
		err = l.Run(context.Background(), rows, nil)
		values[g.Rank()] = small.Bits(small.Values(t, w.params))
		return err
	}))
	for rank := range values {
		require.Equal(t, values[0], values[rank], "rank %d of %d", rank, size)
	}
	return values[0]
}

// A run resumes with another number of processes, each of which keeps a part of the solver's state. Its checkpoints are
// equal files.
func TestGroupResumesWithAnotherNumber(t *testing.T) {
	for _, row := range []struct {
		name   string
		solver train.SolverConfig
		n      int
		dtype  tensor.Dtype
		sizes  []int // of 2 steps each
	}{
		{"adamw", train.SolverConfig{WeightDecay: 0.1}, 4, tensor.Float32, []int{3, 1, 4}},
		{"adam", train.SolverConfig{Name: train.Adam}, 5, tensor.Float64, []int{2, 4, 3}},
		{"momentum", train.SolverConfig{Name: train.SGD, Momentum: 0.9}, 6, tensor.Float32, []int{4, 3, 2}},
		{"sgd", train.SolverConfig{Name: train.SGD}, 4, tensor.Float32, []int{1, 2, 4}},
		{"eight", train.SolverConfig{WeightDecay: 0.1}, 16, tensor.Float32, []int{8, 5, 2}},
		{"muon", train.SolverConfig{Name: train.Muon, WeightDecay: 0.1}, 4, tensor.Float32, []int{3, 1, 4}},
		{"whole parameters", train.SolverConfig{WeightDecay: 0.1}, 3, tensor.Float32, []int{3, 2, 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel() // saving waits for the disk
			alone, together := t.TempDir(), t.TempDir()
			c := wideConfig(row.solver, row.n)
			want := resumed(t, alone, row.dtype, c, 1)
			var got map[string][]uint64
			for i, size := range row.sizes {
				c := c
				c.Steps = 2 * (i + 1)
				got = resumed(t, together, row.dtype, c, size)
			}
			require.Equal(t, want, got)
			require.Equal(t, contentOf(t, checkpoint.Path(alone, 6)), contentOf(t, checkpoint.Path(together, 6)))
		})
	}
}

func contentOf(t *testing.T, path string) []byte {
	return must(os.ReadFile(path))
}

// A step sends little more than the lower bound, for any number of processes, and each process keeps its part of the
// solver's state.
func TestGroupTraffic(t *testing.T) {
	alone := newWide(t, tensor.Float32, 3)
	c := wideConfig(train.SolverConfig{}, 4)
	c.Steps = 2
	l := must(loop.New(alone.params, alone.loss, c))
	require.NoError(t, l.Run(context.Background(), alone.rows(t), nil))
	sent, _ := l.Traffic()
	require.Zero(t, sent)
	whole := l.Memory()
	for size, unequal := range map[int]float64{2: 0.1, 4: 0.25} { // because this model has few blocks
		small.RequireNone(t, small.Together(t, size, func(g *parallel.Group) error {
			c := c
			c.Group = g
			w := newWide(t, tensor.Float32, 3)
			l, err := loop.New(w.params, w.loss, c)
			if err != nil {
				return err
			}
			if err := l.Run(context.Background(), w.rows(t), nil); err != nil {
				return err
			}
			sent, least := l.Traffic()
			m := l.Memory()
			require.Equal(t, int64(2*(size-1)*4*alone.params.Count()/size), least)
			require.InDelta(t, 1, float64(sent)/float64(least), unequal)
			require.InDelta(t, 1/float64(size), float64(m.Solver)/float64(whole.Solver), 0.2)
			require.LessOrEqual(t, m.Gradients, whole.Gradients)
			return nil
		}))
	}
}
