package train_test

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// An attention layer, a loss and three training steps, with the losses of PyTorch's
// nn.MultiheadAttention and AdamW. It is the program of the README with more steps.
func ExampleNewStep() {
	p := layers.NewParams(tensor.Float32, 123) // initial values as after torch.manual_seed(123)
	attn, err := layers.NewAttention(p.Scope("attn"),
		layers.AttentionConfig{EmbedDim: 3, NumHeads: 1, Mask: mask.Causal{}, Layout: layers.Torch})
	check(err)
	b := layers.NewBuild(p, layers.Train)
	x, y := b.Input("x", 2, 6, 3), b.Input("y", 2, 6, 3) // (B, T, E), of the parameters' type
	loss := b.Of(graph.MSE(b.Of(attn.Forward(b, x)), y, graph.LossConfig{}))
	step, err := train.NewStep(b, loss, train.StepConfig{Schedule: train.ConstantRate(1e-3)})
	check(err)
	batch, target := p.Draw(layers.Normal(0, 1), 2, 6, 3), p.Draw(layers.Normal(0, 1), 2, 6, 3)
	for range 3 {
		l, err := step.Run(train.Values{"x": batch, "y": target})
		check(err)
		fmt.Printf("%.6f\n", l)
	}
	// Output:
	// 1.265295
	// 1.263916
	// 1.262548
}
