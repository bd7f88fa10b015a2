package train_test

import (
	"fmt"

	"attention/graph"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// Three steps with two groups of parameters and a frozen parameter: the attention's output projection has a tenth of
// the learning rate and its own weight decay; the projections of queries, keys and values are not trained. The same in
// PyTorch, which prints the same:
//
//	import torch
//	from torch import nn
//
//	def weights(w):
//		return "[" + " ".join(f"{x:.7f}" for x in w.flatten()[:4]) + "]"
//
//	for name, solver in ("sgd", torch.optim.SGD), ("adamw", torch.optim.AdamW):
//		torch.manual_seed(123)
//		attention = nn.MultiheadAttention(8, 2, bias=False, batch_first=True)
//		output = nn.Linear(8, 4)
//		attention.in_proj_weight.requires_grad_(False)
//		optimizer = solver([{"params": attention.out_proj.parameters(), "lr": 0.1 * 0.02, "weight_decay": 0.1},
//			{"params": output.parameters()}], lr=0.02, weight_decay=0)
//		for step in range(3):
//			x, y = torch.randn(16, 5, 8), torch.randn(16, 5, 4)
//			loss = nn.functional.mse_loss(output(attention(x, x, x)[0]), y)
//			optimizer.zero_grad()
//			loss.backward()
//			optimizer.step()
//			print(f"{name} step {step}: loss {loss.item():.5f}")
//		print("in_proj ", weights(attention.in_proj_weight))
//		print("out_proj", weights(attention.out_proj.weight))
//		print("output  ", weights(output.weight))
func ExampleParamGroup() {
	for _, name := range []string{train.SGD, train.AdamW} {
		p := layers.NewParams(tensor.Float32, 123)
		attention, err := layers.NewAttention(p.Scope("attention"),
			layers.AttentionConfig{EmbedDim: 8, NumHeads: 2, Layout: layers.Torch})
		check(err)
		output, err := layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: 8, OutFeatures: 4, Bias: true})
		check(err)
		check(p.Freeze("in_proj_weight"))
		b := layers.NewBuild(p, layers.Train)
		x, y := b.Input("x", 16, 5, 8), b.Input("y", 16, 5, 4)
		loss := b.Of(graph.MSE(b.Of(output.Forward(b, b.Of(attention.Forward(b, x)))), y, graph.LossConfig{}))
		step, err := train.NewStep(b, loss, train.StepConfig{Schedule: train.ConstantRate(0.02),
			Solver: train.SolverConfig{Name: name, Groups: []train.ParamGroup{
				{Params: "out_proj", LRFactor: new(0.1), WeightDecay: new(0.1)}}}})
		check(err)
		for n := range 3 {
			l, err := step.Run(train.Values{"x": p.Draw(layers.Normal(0, 1), 16, 5, 8),
				"y": p.Draw(layers.Normal(0, 1), 16, 5, 4)})
			check(err)
			fmt.Printf("%s step %d: loss %.5f\n", name, n, l)
		}
		for _, w := range []struct{ label, name string }{{"in_proj ", "attention.in_proj_weight"},
			{"out_proj", "attention.out_proj.weight"}, {"output  ", "output.weight"}} {
			v, _ := p.Get(w.name)
			fmt.Printf("%s %.7f\n", w.label, v.Float32s()[:4])
		}
	}
	// Output:
	// sgd step 0: loss 1.11044
	// sgd step 1: loss 1.05160
	// sgd step 2: loss 1.16722
	// in_proj  [-0.1724541 0.0173801 -0.1009913 -0.0475843]
	// out_proj [-0.1440206 0.0116832 -0.1754726 0.1332510]
	// output   [0.0597375 -0.2664294 0.3243368 0.3473533]
	// adamw step 0: loss 1.11044
	// adamw step 1: loss 1.04731
	// adamw step 2: loss 1.14914
	// in_proj  [-0.1724541 0.0173801 -0.1009913 -0.0475843]
	// out_proj [-0.1383842 0.0066920 -0.1696749 0.1296558]
	// output   [0.0903571 -0.2404757 0.2965629 0.3210200]
}
