package parallel_test

import (
	"context"
	"fmt"
	"sync"

	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/parallel"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A custom model, trained by two processes, which are goroutines here. Under mpirun parallel.Join returns the group,
// and each process does the work of one goroutine. In PyTorch this is DistributedDataParallel.
func ExampleNewLocal() {
	trained := func(g train.Group) (*layers.Params, error) {
		p := layers.NewParams(tensor.Float32, 123)
		hidden, err := layers.NewLinear(p.Scope("hidden"), layers.LinearConfig{InFeatures: 3, OutFeatures: 8, Bias: true})
		if err != nil {
			return nil, err
		}
		output, err := layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: 8, OutFeatures: 1, Bias: true})
		if err != nil {
			return nil, err
		}
		loss := func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
			h := b.Of(graph.ReLU(b.Of(hidden.Forward(b, in["x"]))))
			return b.Nodes(graph.MSE(b.Of(output.Forward(b, h)), in["y"], graph.LossConfig{}))
		}
		rows, err := train.NewBatches(train.Values{"x": p.Draw(layers.Normal(0, 1), 64, 3),
			"y": p.Draw(layers.Normal(0, 1), 64, 1)}, train.BatchConfig{BatchSize: 4, Shuffle: true})
		if err != nil {
			return nil, err
		}
		l, err := loop.New(p, loss, loop.Config{Steps: 20,
			StepConfig: train.StepConfig{Accumulate: 4, Group: g, Schedule: train.ConstantRate(0.01)}})
		if err != nil {
			return nil, err
		}
		return p, l.Run(context.Background(), rows, nil)
	}
	alone, err := trained(nil)
	check(err)
	group, err := parallel.NewLocal(2)
	check(err)
	together := make([]*layers.Params, len(group))
	var running sync.WaitGroup
	for rank, g := range group {
		running.Go(func() {
			var err error
			together[rank], err = trained(g)
			check(err)
		})
	}
	running.Wait()
	for rank, p := range together {
		equal := 0
		for name, w := range alone.All() {
			if other, _ := p.Get(name); fmt.Sprint(w.Data()) == fmt.Sprint(other.Data()) {
				equal++
			}
		}
		fmt.Printf("rank %d: %d of %d parameters as in one process\n", rank, equal, alone.Len())
	}
	// Output:
	// rank 0: 4 of 4 parameters as in one process
	// rank 1: 4 of 4 parameters as in one process
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
