package train_test

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// A custom training loop: attention learns to return its input. The learning rate falls along a cosine, gradients are
// clipped, and each step has new data. The same in PyTorch, which prints the same:
//
//	import torch
//	from torch import nn
//
//	torch.manual_seed(123)
//	attention = nn.MultiheadAttention(8, 2, bias=False, batch_first=True)
//	hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
//	optimizer = torch.optim.AdamW(attention.parameters(), lr=0.01, weight_decay=0)
//	schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200)
//	for step in range(101):
//		x = torch.randn(16, 5, 8)
//		y, _ = attention(x, x, x, attn_mask=hidden)
//		loss = nn.functional.mse_loss(y, x)
//		optimizer.zero_grad()
//		loss.backward()
//		nn.utils.clip_grad_norm_(attention.parameters(), 1.0)
//		optimizer.step()
//		schedule.step()
//		if step % 25 == 0:
//			print(f"step {step}: loss {loss.item():.4f}")
func ExampleStep_Run() {
	p := layers.NewParams(tensor.Float32, 123)
	attention, err := layers.NewAttention(p.Scope("attention"),
		layers.AttentionConfig{EmbedDim: 8, NumHeads: 2, Mask: mask.Causal{}, Layout: layers.Torch})
	check(err)
	b := layers.NewBuild(p, layers.Train)
	x := b.Input("x", 16, 5, 8) // (B, T, E)
	loss := b.Of(graph.MSE(b.Of(attention.Forward(b, x)), x, graph.LossConfig{}))
	step, err := train.NewStep(b, loss, train.StepConfig{ClipNorm: 1,
		Schedule: train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.01, Steps: 200}}})
	check(err)
	for n := range 101 {
		l, err := step.Run(train.Values{"x": p.Draw(layers.Normal(0, 1), 16, 5, 8)})
		check(err)
		if n%25 == 0 {
			fmt.Printf("step %d: loss %.4f\n", n, l)
		}
	}
	// Output:
	// step 0: loss 1.0585
	// step 25: loss 0.6602
	// step 50: loss 0.2865
	// step 75: loss 0.1064
	// step 100: loss 0.0997
}
