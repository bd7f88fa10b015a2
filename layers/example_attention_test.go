package layers_test

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func ExampleAttention() {
	// As in Llama: two query heads share a key/value head, and queries and keys are rotated by positions.
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope("self_attn"), layers.AttentionConfig{
		EmbedDim: 3, NumHeads: 2, NumKVHeads: 1, HeadDim: 2,
		RoPE: &graph.RoPEConfig{}, Mask: mask.Causal{}, Layout: layers.Llama,
	})
	check(err)
	for name, value := range params.All() {
		fmt.Println(name, value.Shape())
	}
	build := layers.NewBuild(params, layers.Eval)
	context, err := layer.Forward(build, journey(build))
	check(err)
	fmt.Println(context.Shape())
	// Output:
	// self_attn.q_proj.weight (4, 3)
	// self_attn.k_proj.weight (2, 3)
	// self_attn.v_proj.weight (2, 3)
	// self_attn.o_proj.weight (3, 4)
	// (6, 3)
}

func ExampleAttention_cross() {
	// Two queries of width 2, as from a decoder, attend to the six words. The
	// last two are padding.
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), layers.AttentionConfig{EmbedDim: 2, KDim: 3, VDim: 3, NumHeads: 2})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	query := build.Input("query", 2, 2)
	check(G.Let(query, tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float32{0.5, -1, 1, 2}))))
	keep := build.InputOf(tensor.Int, "keep", 6)
	check(G.Let(keep, tensor.New(tensor.WithShape(6), tensor.WithBacking([]int{1, 1, 1, 1, 0, 0}))))
	in := layers.AttentionInput{Query: query, Key: journey(build), Mask: mask.Keep{Keep: keep}}
	context := build.Of(layer.Attend(build, in))
	weights := build.Of(graph.AverageHeads(build.Of(layer.Weights(build, in))))
	check(build.Err())
	show(weights, context)
	// Output:
	// ⎡0.2434  0.2564  0.2571  0.2431  0.0000  0.0000⎤
	// ⎣0.2648  0.2455  0.2456  0.2441  0.0000  0.0000⎦
	//
	// ⎡-0.0189  -0.0362⎤
	// ⎣-0.0143  -0.0341⎦
}

func ExampleAttention_score() {
	// A custom function subtracts half the distance between query and key from each score.
	near := &graph.ScoreFunc{
		Score: func(score float64, b, h, t, s int) float64 { return score - float64(t-s)/2 },
		Slope: func(score float64, b, h, t, s int) float64 { return 1 }, // its derivative by the score
	}
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""),
		layers.AttentionConfig{EmbedDim: 3, NumHeads: 1, Mask: mask.Causal{}, Score: near})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	weights := build.Of(layer.Weights(build, layers.AttentionInput{Query: journey(build)}))
	check(build.Err())
	show(build.Of(graph.AverageHeads(weights)))
	// Output:
	// ⎡1.0000  0.0000  0.0000  0.0000  0.0000  0.0000⎤
	// ⎢0.3220  0.6780  0.0000  0.0000  0.0000  0.0000⎥
	// ⎢0.1525  0.3201  0.5275  0.0000  0.0000  0.0000⎥
	// ⎢0.0901  0.1715  0.2827  0.4558  0.0000  0.0000⎥
	// ⎢0.0516  0.0961  0.1585  0.2658  0.4280  0.0000⎥
	// ⎣0.0293  0.0579  0.0954  0.1521  0.2497  0.4156⎦
}

func ExampleAttention_SetState() {
	// The weights of an nn.MultiheadAttention(4, 2, bias=False), say from a file, for a
	// layer whose parameters are the chapter's.
	state := map[string]*tensor.Dense{
		"in_proj_weight":  tensor.New(tensor.WithShape(12, 4), tensor.WithBacking(tensor.Range(tensor.Float32, 0, 48))),
		"out_proj.weight": tensor.New(tensor.WithShape(4, 4), tensor.WithBacking(tensor.Range(tensor.Float32, 0, 16))),
	}
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), layers.AttentionConfig{EmbedDim: 4, NumHeads: 2})
	check(err)
	check(layer.SetState(layers.Torch, state))
	key, _ := params.Get("W_key.weight")
	fmt.Println(key)
	// Output:
	// ⎡16  17  18  19⎤
	// ⎢20  21  22  23⎥
	// ⎢24  25  26  27⎥
	// ⎣28  29  30  31⎦
}

func ExampleAttention_dropout() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), layers.AttentionConfig{
		EmbedDim: 3, OutDim: 2, NumHeads: 1, ContextOnly: true, Mask: mask.Causal{}, Dropout: 0.5})
	check(err)
	// Only a Train graph drops weights; its key decides which.
	build := layers.NewBuild(params, layers.Train)
	weights := build.Of(layer.Weights(build, layers.AttentionInput{Query: journey(build)})) // (1, T, T)
	weights = build.Of(graph.MergeHeads(weights))
	check(build.Err())
	check(G.Let(build.DropoutKey(), G.NewI64(1)))
	show(weights)
	// Output:
	// ⎡2.0000  0.0000  0.0000  0.0000  0.0000  0.0000⎤
	// ⎢0.9665  1.0335  0.0000  0.0000  0.0000  0.0000⎥
	// ⎢0.6380  0.0000  0.6804  0.0000  0.0000  0.0000⎥
	// ⎢0.4889  0.0000  0.5085  0.4936  0.0000  0.0000⎥
	// ⎢0.0000  0.4120  0.4116  0.0000  0.3906  0.0000⎥
	// ⎣0.3249  0.3418  0.0000  0.0000  0.0000  0.3363⎦
}

func ExampleAdditiveAttention() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAdditiveAttention(params.Scope(""),
		layers.AdditiveAttentionConfig{QueryDim: 2, KeyDim: 3, AttnDim: 4})
	check(err)
	// One query of width 2, as from a decoder, attends to the six words.
	build := layers.NewBuild(params, layers.Eval)
	query := build.Input("query", 1, 2)
	check(G.Let(query, tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float32{0.5, -1}))))
	words := journey(build)
	context := build.Of(layer.Forward(build, query, words))
	weights := build.Of(layer.Weights(build, query, words)) // (1, 1, S)
	weights = build.Of(graph.MergeHeads(weights))
	check(build.Err())
	show(weights, context)
	// Output:
	// R[0.1644  0.1666  0.1667  0.1665  0.1713  0.1645]
	// R[0.4341  0.5823  0.5255]
}
