package layers_test

import (
	"fmt"

	"attention/graph/machine"
	"attention/graph/mask"
	"attention/layers"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// One attention layer in a graph of one's own, its gradients, and one step down.
func Example_training() {
	batch := tensor.New(tensor.WithShape(2, 6, 3), tensor.WithBacking(tensor.Range(tensor.Float32, 0, 36)))

	p := layers.NewParams(tensor.Float32, 123) // initial values as after torch.manual_seed(123)
	attn, err := layers.NewAttention(p.Scope("attn"), layers.AttentionConfig{
		Width: 3, Out: 2, NumHeads: 2, OutBias: true, Mask: mask.Causal{}})
	check(err)
	b := layers.NewBuild(p, layers.Train) // one graph over the parameters
	x := b.Input("x", 2, 6, 3)            // (B, T, In)
	out := b.Of(attn.Forward(b, x))       // (B, T, Out), a *gorgonia.Node
	loss := b.Of(gorgonia.Mean(b.Of(gorgonia.Square(out))))
	check(b.Err()) // the first of the build
	grads, err := gorgonia.Grad(loss, b.Learnables()...)
	check(err)
	m, err := machine.New(append(grads, loss)...) // or gorgonia.NewTapeMachine
	check(err)
	check(gorgonia.Let(x, batch))
	check(m.RunAll())
	before := loss.Value().Data().(float32)

	solver := gorgonia.NewVanillaSolver(gorgonia.WithLearnRate(1e-3))
	check(solver.Step(gorgonia.NodesToValueGrads(b.Learnables())))
	check(m.RunAll())
	fmt.Println(grads[0].Shape(), loss.Value().Data().(float32) < before)
	// Output: (2, 3) true
}
