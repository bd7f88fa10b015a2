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
	loss := b.Of(graph.MSE(b.Of(attn.Forward(b, x)), y))
	step, err := train.NewStep(b, loss, train.StepConfig{Schedule: train.ConstantRate(1e-3)})
	check(err)
	batch := tensor.New(tensor.WithShape(2, 6, 3), tensor.WithBacking(tensor.Range(tensor.Float32, -18, 18)))
	for range 3 {
		l, err := step.Run(train.Values{"x": batch, "y": tensor.Ones(tensor.Float32, 2, 6, 3)})
		check(err)
		fmt.Printf("%.6g\n", l)
	}
	// Output:
	// 22.2532
	// 21.9551
	// 21.6604
}
