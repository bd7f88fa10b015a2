package train_test

import (
	"context"
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The weights of a sequence's last token while the attention learns to return its input: in the end the token attends
// to itself. Calls finds the layers of any model by their paths, those of a GPT by "transformer.h.*.attn", and the
// layers need no hook. The same in PyTorch, which prints the same:
//
//	import torch
//	from torch import nn
//
//	torch.manual_seed(123)
//	attention = nn.MultiheadAttention(16, 2, bias=False, batch_first=True)
//	hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
//	optimizer = torch.optim.AdamW(attention.parameters(), lr=0.01, weight_decay=0)
//	watched = torch.randn(1, 5, 16)
//	for step in range(201):
//		if step % 100 == 0:
//			with torch.no_grad():
//				_, weights = attention(watched, watched, watched, attn_mask=hidden, average_attn_weights=False)
//			print(f"step {step}: [" + " ".join(f"{w:.2f}" for w in weights[0, 0, -1]) + "]")
//		x = torch.randn(16, 5, 16)
//		y, _ = attention(x, x, x, attn_mask=hidden)
//		loss = nn.functional.mse_loss(y, x)
//		optimizer.zero_grad()
//		loss.backward()
//		optimizer.step()
func ExampleStep_weights() {
	p := layers.NewParams(tensor.Float32, 123)
	attention, err := layers.NewAttention(p.Scope("attention"),
		layers.AttentionConfig{EmbedDim: 16, NumHeads: 2, Mask: mask.Causal{}, Layout: layers.Torch})
	check(err)
	step, err := train.NewStepFunc(p, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		x := in["x"] // (B, T, E)
		return b.Nodes(graph.MSE(b.Of(attention.Forward(b, x)), x, graph.LossConfig{}))
	}, train.StepConfig{Schedule: train.ConstantRate(0.01)})
	check(err)

	weights, err := layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		b.Of(attention.Forward(b, in["x"]))
		return b.Nodes(b.Calls("attention")[0].Weights()) // (B, H, T, S)
	}, layers.FuncConfig{})
	check(err)
	watched := train.Values{"x": p.Draw(layers.Normal(0, 1), 1, 5, 16)}
	for n := range 201 {
		if n%100 == 0 {
			w, err := weights.Call(context.Background(), watched)
			check(err)
			fmt.Printf("step %d: %.2f\n", n, w[0].Float32s()[4*5:5*5]) // the first head's last query
		}
		_, err := step.Run(train.Values{"x": p.Draw(layers.Normal(0, 1), 16, 5, 16)})
		check(err)
	}
	// Output:
	// step 0: [0.15 0.36 0.13 0.17 0.18]
	// step 100: [0.01 0.02 0.00 0.00 0.97]
	// step 200: [0.00 0.03 0.00 0.00 0.96]
}
