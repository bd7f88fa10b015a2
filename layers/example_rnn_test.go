package layers_test

import (
	"fmt"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The attention of a decoder to a source of four tokens while it writes three tokens.
func ExampleRNNSeq2Seq() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewRNNSeq2Seq(params.Scope(""),
		layers.RNNSeq2SeqConfig{SourceVocabSize: 7, TargetVocabSize: 11, EmbedDim: 3, HiddenSize: 5, AttnDim: 13})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	source, target := build.InputOf(tensor.Int, "source", 4), build.InputOf(tensor.Int, "target", 3)
	check(G.Let(source, tensor.New(tensor.WithBacking([]int{1, 6, 6, 0}))))
	check(G.Let(target, tensor.New(tensor.WithBacking([]int{10, 6, 2}))))
	memory, err := model.Encode(build, source, nil)
	check(err)
	logits, after, err := model.Decode(build, target, memory)
	check(err)
	m, err := machine.New(after.Weights, logits)
	check(err)
	check(m.RunAll())
	fmt.Println(logits.Shape(), after.Weights.Shape())
	for weights := after.Weights.Value().Data().([]float32); len(weights) > 0; weights = weights[4:] {
		fmt.Printf("%.4f\n", weights[:4])
	}
	// Output:
	// (3, 11) (1, 3, 4)
	// [0.2367 0.2491 0.2538 0.2605]
	// [0.2366 0.2491 0.2539 0.2604]
	// [0.2366 0.2491 0.2539 0.2604]
}

// The attention of one patch of a picture to the other patches.
func ExampleViT() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewViT(params.Scope(""), layers.ViTConfig{Height: 4, Width: 6, Channels: 1, PatchSize: 2,
		EmbedDim: 8, NumLayers: 1, NumHeads: 2, NumClasses: 3})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	build.Observe("*")
	picture := build.Input("picture", 4, 6, 1) // Height, Width, Channels
	check(G.Let(picture, tensor.New(tensor.WithShape(4, 6, 1), tensor.WithBacking(tensor.Range(tensor.Float32, 0, 24)))))
	logits := build.Of(model.Forward(build, picture, nil))
	weights := build.Of(build.Calls("encoder.layers.0.self_attn")[0].Weights())
	check(build.Err())
	m, err := machine.New(logits, weights)
	check(err)
	check(m.RunAll())
	fmt.Println(logits.Shape(), weights.Shape())
	fmt.Printf("%.4f\n", weights.Value().Data().([]float32)[:6]) // of the first head and patch
	// Output:
	// (6, 3) (2, 6, 6)
	// [0.1508 0.1620 0.1656 0.1723 0.1745 0.1747]
}
