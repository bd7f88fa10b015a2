package train_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/train"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// shaped is the model of testdata/torch/shapes.py and its batches, which have different shapes.
type shaped struct {
	params  *layers.Params
	loss    layers.Formula
	batches []train.Batch
	built   int // calls of loss
}

func newShaped(t *testing.T, dt tensor.Dtype, file *golden.File, dropout float64) *shaped {
	t.Helper()
	p := layers.NewParams(dt, 1)
	m := &shaped{params: p}
	embedding := must(layers.NewEmbedding(p.Scope("embedding"), layers.EmbeddingConfig{NumEmbeddings: 11, EmbeddingDim: 8}))
	attention := must(layers.NewAttention(p.Scope("attention"), layers.AttentionConfig{EmbedDim: 8, NumHeads: 2,
		Mask: mask.Causal{}}))
	output := must(layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: 8, OutFeatures: 11, Bias: true}))
	for name, v := range p.All() {
		require.NoError(t, p.Set(name, golden.Dense(dt, file.Float64("start."+name), v.Shape()...)))
	}
	m.loss = func(b *layers.Build, in layers.Inputs) []*G.Node {
		m.built++
		x := b.Of(layers.Dropout{P: dropout}.Forward(b, b.Of(embedding.Forward(b, in["ids"]))))
		logits := b.Of(output.Forward(b, b.Of(attention.Forward(b, x))))
		return []*G.Node{b.Of(graph.CrossEntropy(logits, in["targets"], graph.CrossEntropyConfig{})), logits}
	}
	shapes, ids, targets := file.Int64("shapes"), file.Int64("ids"), file.Int64("targets")
	for i := 0; i < len(shapes); i += 2 {
		batch := train.Batch{Inputs: train.Values{}}
		rows, length := int(shapes[i]), int(shapes[i+1])
		for name, all := range map[string]*[]int64{"ids": &ids, "targets": &targets} {
			batch.Inputs[name] = tensor.New(tensor.WithShape(rows, length), tensor.WithBacking((*all)[:rows*length]))
			*all = (*all)[rows*length:]
		}
		for _, target := range batch.Inputs["targets"].Int64s() {
			if target != graph.IgnoreTarget {
				batch.Tokens++
			}
		}
		m.batches = append(m.batches, batch)
	}
	return m
}

func shapedConfig(batches int) train.StepConfig {
	return train.StepConfig{Accumulate: batches, Solver: train.SolverConfig{WeightDecay: 0.1},
		Schedule: train.ConstantRate(0.003), ClipNorm: 1}
}

// batches is a source that yields the batches of a list.
type batches []train.Batch

func (b *batches) Next() (train.Batch, error) {
	next := (*b)[0]
	*b = (*b)[1:]
	return next, nil
}

// Losses and weights of steps with batches of different shapes equal PyTorch's, for steps of one batch and of three.
func TestStepsOfAnyShapeAsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/shapes.safetensors")
	for name, n := range map[string]int{"one": 1, "three": 3} {
		for dt, tolerance := range map[tensor.Dtype][2]float64{tensor.Float32: {1e-6, 2e-5}, tensor.Float64: {1e-12, 1e-12}} {
			for _, graphs := range []int{0, 1} {
				m := newShaped(t, dt, file, 0)
				c := shapedConfig(n)
				c.Graphs = graphs
				step := must(train.NewStepFunc(m.params, m.loss, c))
				source, at := batches(m.batches), name+"."+dt.String()
				var losses []float64
				for range file.Shape(at + ".loss")[0] {
					losses = append(losses, must(step.Take(&source)).Loss)
				}
				golden.Close(t, at+".loss", file.Float64(at+".loss"), losses, tolerance[0], 0)
				for name, v := range m.params.All() {
					want := file.Float64
					if dt == tensor.Float32 {
						want = func(name string) (all []float64) {
							for _, x := range file.Float32(name) {
								all = append(all, float64(x))
							}
							return all
						}
					}
					golden.Close(t, name, want(at+".end."+name), golden.Floats(t, v), tolerance[1], 0)
				}
			}
		}
	}
}

// Batches of one shape give the bits of NewStep, with dropout; a graph is built once for each shape.
func TestStepFuncHasTheBitsOfStep(t *testing.T) {
	file := golden.Load(t, "torch/shapes.safetensors")
	m, other := newShaped(t, tensor.Float32, file, 0.3), newShaped(t, tensor.Float32, file, 0.3)
	batch := m.batches[slices.IndexFunc(m.batches, func(b train.Batch) bool { return b.Inputs["ids"].DataSize() > 9 })]
	f := must(train.NewStepFunc(m.params, m.loss, shapedConfig(1)))
	b := layers.NewBuild(other.params, layers.Train)
	step := must(train.NewStep(b, other.loss(b, b.InputsOf(batch.Inputs))[0], shapedConfig(1)))
	for range 5 {
		require.Equal(t, must(step.Run(batch.Inputs)), must(f.Run(batch.Inputs)))
	}
	requireSameValues(t, other.params, m.params)
	require.Equal(t, 1, m.built)
	require.Equal(t, step.Memory(), f.Memory())
}

func requireSameValues(t *testing.T, want, got *layers.Params) {
	t.Helper()
	for name, v := range want.All() {
		other, _ := got.Get(name)
		require.Equal(t, v.Data(), other.Data(), name)
	}
}

// A new Step with the state and the weights of another continues with the same bits before it has built a graph,
// whichever graphs the other Step had.
func TestStepFuncResumesToTheBit(t *testing.T) {
	file := golden.Load(t, "torch/shapes.safetensors")
	for _, n := range []int{1, 3} {
		whole, resumed := newShaped(t, tensor.Float32, file, 0.3), newShaped(t, tensor.Float32, file, 0.3)
		first, source := must(train.NewStepFunc(whole.params, whole.loss, shapedConfig(n))), batches(whole.batches)
		for range 6 {
			must(first.Take(&source))
		}
		for name, v := range whole.params.All() {
			require.NoError(t, resumed.params.Set(name, v))
		}
		second, rest := must(train.NewStepFunc(resumed.params, resumed.loss, shapedConfig(n))), slices.Clone(source)
		for i, part := range first.State() {
			require.NoError(t, tensor.Copy(second.State()[i].Value, part.Value))
		}
		second.SetSteps(first.Steps())
		for range 6 {
			want, got := must(first.Take(&source)), must(second.Take(&rest))
			want.TokensPerSecond, got.TokensPerSecond = 0, 0
			require.Equal(t, want, got)
		}
		requireSameValues(t, whole.params, resumed.params)
	}
}

// Gradients, sums and state exist once in memory: many shapes need the memory of the largest shape alone, and at most a
// sixteenth more of the graphs' memory.
func TestMemoryOfAStepFunc(t *testing.T) {
	file := golden.Load(t, "torch/shapes.safetensors")
	m := newShaped(t, tensor.Float64, file, 0)
	largest := slices.MaxFunc(m.batches, func(a, b train.Batch) int {
		return a.Inputs["ids"].DataSize() - b.Inputs["ids"].DataSize()
	})
	alone := must(train.NewStepFunc(m.params, m.loss, shapedConfig(1)))
	require.Zero(t, alone.Memory().Graphs)
	must(alone.Run(largest.Inputs))
	step := must(train.NewStepFunc(m.params, m.loss, shapedConfig(1)))
	for _, b := range m.batches {
		must(step.Run(b.Inputs))
	}
	got, want := step.Memory(), alone.Memory()
	require.Positive(t, want.Graphs)
	all := want.Graphs + want.Gradients
	require.LessOrEqual(t, got.Graphs+got.Gradients, all+all/16)
	got.Graphs = want.Graphs
	require.Equal(t, want, got)
}

func TestErrorsOfAStepFunc(t *testing.T) {
	file := golden.Load(t, "torch/shapes.safetensors")
	m := newShaped(t, tensor.Float32, file, 0)
	ids := m.batches[0].Inputs
	text := fmt.Sprintf("train: step 1: batch of ids int64 %v, targets int64 %[1]v: ", ids["ids"].Shape())
	fails := errors.New("the formula's own")
	inner := must(train.NewStepFunc(m.params, m.loss, shapedConfig(1)))
	for _, c := range []struct {
		loss layers.Formula
		want string
	}{
		{func(b *layers.Build, _ layers.Inputs) []*G.Node { return b.Nodes(nil, fails) }, "the formula's own"},
		{func(b *layers.Build, _ layers.Inputs) []*G.Node { return b.Nodes(nil, inner.Prepare(ids)) },
			text + "got a call within a formula, want formulas to build nodes alone: call functions and steps outside"},
		{func(*layers.Build, layers.Inputs) []*G.Node { return nil }, "loss: got nil, want a node"},
		{func(_ *layers.Build, in layers.Inputs) []*G.Node { return []*G.Node{nil} }, "loss: got nil, want a node"},
		{func(_ *layers.Build, in layers.Inputs) []*G.Node { return []*G.Node{in["ids"]} }, "loss: got int64"},
		{func(b *layers.Build, in layers.Inputs) []*G.Node {
			w := m.params.Scope("attention.W_key").Lookup("weight")
			return b.Nodes(G.Sum(b.Node(w)))
		}, "loss: does not depend on parameter embedding.weight, want it to, or the parameter frozen"},
	} {
		step := must(train.NewStepFunc(m.params, c.loss, shapedConfig(1)))
		for range 2 {
			_, err := step.Run(ids)
			require.ErrorContains(t, err, text+c.want)
		}
	}
	step := must(train.NewStepFunc(m.params, m.loss, shapedConfig(1)))
	_, err := step.Run(train.Values{"ids": ids["ids"]})
	require.ErrorContains(t, err, "batch of ids int64")
	must(step.Run(ids)) // an error leaves the source unchanged
	require.NoError(t, m.params.Freeze("embedding"))
	_, err = step.Run(ids)
	require.EqualError(t, err, "train: step 2: parameters: got some that were replaced, frozen or given adapters, "+
		"want those of NewStepFunc")
	must(must(train.NewStepFunc(m.params, m.loss, shapedConfig(1))).Run(ids))
	require.NoError(t, m.params.Freeze("*"))
	_, err = train.NewStepFunc(m.params, m.loss, shapedConfig(1))
	require.ErrorContains(t, err, "parameters: got none, want at least one")
	_, err = train.NewStepFunc(nil, m.loss, shapedConfig(1))
	require.EqualError(t, err, "train: step: got no parameters or no formula, want both")
	_, err = train.NewStepFunc(m.params, m.loss, train.StepConfig{Schedule: train.ConstantRate(1), Graphs: -1})
	require.EqualError(t, err, "train: Graphs: got -1, want at least 0")
}

// Two processes that share the batches of steps, which have different shapes, give the bits of one process.
func TestStepFuncOfAGroup(t *testing.T) {
	file := golden.Load(t, "torch/shapes.safetensors")
	train3 := func(g train.Group) *layers.Params {
		m := newShaped(t, tensor.Float32, file, 0.3)
		c := shapedConfig(5)
		c.Group = g
		step, source := must(train.NewStepFunc(m.params, m.loss, c)), batches(m.batches)
		for range 3 {
			must(step.Take(&source))
		}
		return m.params
	}
	want := train3(nil)
	group := must(parallel.NewLocal(2))
	var both sync.WaitGroup
	got := make([]*layers.Params, 2)
	for rank := range got {
		both.Go(func() { got[rank] = train3(group[rank]) })
	}
	both.Wait()
	for _, p := range got {
		requireSameValues(t, want, p)
	}
}
