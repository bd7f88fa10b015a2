package layers_test

import (
	"context"
	"fmt"

	"attention/layers"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// One formula takes batches of any size and length.
func ExampleFunc() {
	p := layers.NewParams(tensor.Float32, 123)
	attn := must(layers.NewAttention(p.Scope("attn"), layers.AttentionConfig{EmbedDim: 4, NumHeads: 2}))
	f := must(layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		fmt.Println("a graph for", in["x"].Shape())
		return b.Nodes(attn.Forward(b, in["x"]))
	}, layers.FuncConfig{}))
	for _, shape := range [][]int{{1, 3, 4}, {2, 7, 4}, {1, 3, 4}} {
		y := must(f.Call(context.Background(), layers.Values{"x": p.Draw(layers.Normal(0, 1), shape...)}))
		fmt.Println(y[0].Shape())
	}
	// Output:
	// a graph for (1, 3, 4)
	// (1, 3, 4)
	// a graph for (2, 7, 4)
	// (2, 7, 4)
	// (1, 3, 4)
}
