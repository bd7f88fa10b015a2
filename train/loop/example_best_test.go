package loop_test

import (
	"context"
	"fmt"

	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/loop"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A model memorises eight rows quickly: the loss on eight other rows falls and then rises again. The run ends after the
// loss has risen for some evaluations, and keeps the weights of the lowest loss. The same in PyTorch, which prints the
// same:
//
//	import copy
//	import torch
//	from torch import nn
//
//	torch.manual_seed(123)
//	model = nn.Linear(12, 1)
//	x, y = torch.randn(16, 12), torch.randn(16, 1)
//	optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0)
//	lowest, stale = float("inf"), 0
//	for step in range(1, 201):
//		loss = nn.functional.mse_loss(model(x[:8]), y[:8])
//		optimizer.zero_grad()
//		loss.backward()
//		optimizer.step()
//		if step % 2 == 0:
//			with torch.no_grad():
//				loss = nn.functional.mse_loss(model(x[8:]), y[8:]).item()
//			print(f"step {step}: {loss:.4f}")
//			stale += 1
//			if loss < lowest:
//				lowest, best, stale = loss, step, 0
//				weights = copy.deepcopy(model.state_dict())
//			if stale == 3:
//				break
//	model.load_state_dict(weights)
//	print(f"the best of {step} steps is {best}, with {lowest:.4f} and the bias {model.bias.item():.4f}")
func ExampleLoop_UseBest() {
	p := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewLinear(p.Scope(""), layers.LinearConfig{InFeatures: 12, OutFeatures: 1, Bias: true})
	check(err)
	x, y := p.Draw(layers.Normal(0, 1), 16, 12).Float32s(), p.Draw(layers.Normal(0, 1), 16, 1).Float32s()
	rows := func(from, epochs int) *train.Batches {
		b, err := train.NewBatches(train.Values{
			"x": tensor.New(tensor.WithShape(8, 12), tensor.WithBacking(x[from*12:][:8*12])),
			"y": tensor.New(tensor.WithShape(8, 1), tensor.WithBacking(y[from:][:8])),
		}, train.BatchConfig{BatchSize: 8, Epochs: epochs})
		check(err)
		return b
	}
	loss := func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		return b.Nodes(graph.MSE(b.Of(model.Forward(b, in["x"])), in["y"], graph.LossConfig{}))
	}
	l, err := loop.New(p, loss, loop.Config{
		Steps: 200, EvalEvery: 2, Patience: 3, KeepBest: true,
		StepConfig: train.StepConfig{Schedule: train.ConstantRate(0.05)},
		OnEval:     func(e loop.Evaluation) { fmt.Printf("step %d: %.4f\n", e.Step, e.Loss) },
	})
	check(err)
	check(l.Run(context.Background(), rows(0, 0), rows(8, 1)))
	check(l.UseBest())
	bias, _ := p.Get("bias")
	fmt.Printf("the best of %d steps is %d, with %.4f and the bias %.4f\n", l.Steps(), l.Best().Step,
		l.Best().Loss, bias.Float32s()[0])
	// Output:
	// step 2: 1.3184
	// step 4: 1.1737
	// step 6: 1.2188
	// step 8: 1.3469
	// step 10: 1.4304
	// the best of 10 steps is 4, with 1.1737 and the bias -0.0483
}
