package record_test

import (
	"context"
	"fmt"
	"os"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/record"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A folder records how a model's weights change while it learns to return its input: norms of every parameter, and the
// attention weights of the last token of one sequence.
func ExampleOpen() {
	p := layers.NewParams(tensor.Float32, 123)
	attention, err := layers.NewAttention(p.Scope("attention"),
		layers.AttentionConfig{EmbedDim: 16, NumHeads: 2, Mask: mask.Causal{}, Layout: layers.Torch})
	check(err)
	batches, err := train.NewBatches(train.Values{"x": p.Draw(layers.Normal(0, 1), 64, 5, 16)},
		train.BatchConfig{BatchSize: 16})
	check(err)
	l, err := loop.New(p, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		x := in["x"] // (B, T, E)
		return b.Nodes(graph.MSE(b.Of(attention.Forward(b, x)), x, graph.LossConfig{}))
	}, loop.Config{Steps: 60, EvalEvery: 20, StepConfig: train.StepConfig{Schedule: train.ConstantRate(0.01)}})
	check(err)

	folder, err := os.MkdirTemp("", "fixed")
	check(err)
	defer os.RemoveAll(folder)
	recorder, err := record.Open(l, folder, record.Config{
		Inputs: layers.Values{"fixed": p.Draw(layers.Normal(0, 1), 5, 16)},
		Probe: func(b *layers.Build, in layers.Inputs) (record.Probe, error) {
			weights := b.Of(attention.Weights(b, layers.AttentionInput{Query: in["fixed"]})) // (H, T, T)
			return record.Probe{Tensors: map[string]*gorgonia.Node{"weights": weights}}, nil
		}})
	check(err)
	check(l.Run(context.Background(), batches, nil))
	check(recorder.Close())

	seen, err := record.Read(context.Background(), folder, nil) // also while a run trains
	check(err)
	weights := seen.Probe["weights"].Float32s() // (M, H, T, T), M records
	for i, step := range seen.Steps {
		projection := seen.Records[i].Params[1]
		fmt.Printf("step %2d: %s has moved by %.1f, the last token looks at %.2f\n",
			step, projection.Name, projection.ChangeFromStart, weights[i*2*5*5:][4*5:5*5])
	}
	// Output:
	// step  0: attention.in_proj_weight has moved by 0.0, the last token looks at [0.18 0.19 0.35 0.08 0.19]
	// step 20: attention.in_proj_weight has moved by 3.1, the last token looks at [0.08 0.12 0.33 0.03 0.44]
	// step 40: attention.in_proj_weight has moved by 5.5, the last token looks at [0.02 0.03 0.04 0.00 0.90]
	// step 60: attention.in_proj_weight has moved by 6.7, the last token looks at [0.00 0.00 0.00 0.00 0.99]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
