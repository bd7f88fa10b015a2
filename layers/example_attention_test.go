package layers_test

import (
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The examples use journey, check and show of Example's file.

func ExampleSelfAttentionV1() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewSelfAttentionV1(params.Scope(""), layers.SelfAttentionV1Config{In: 3, Out: 2})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	context, err := layer.Forward(build, journey(build))
	check(err)
	show(context)
	// Output:
	// ⎡0.2996  0.8053⎤
	// ⎢0.3061  0.8210⎥
	// ⎢0.3058  0.8203⎥
	// ⎢0.2948  0.7939⎥
	// ⎢0.2927  0.7891⎥
	// ⎣0.2990  0.8040⎦
}

func ExampleSelfAttentionV1_SetFromV2() {
	params := layers.NewParams(tensor.Float32, 789)
	v2, err := layers.NewSelfAttentionV2(params.Scope("v2"), layers.SelfAttentionV2Config{In: 3, Out: 2})
	check(err)
	v1, err := layers.NewSelfAttentionV1(params.Scope("v1"), layers.SelfAttentionV1Config{In: 3, Out: 2})
	check(err)
	// With v2's weights, transposed, v1 computes what v2 does.
	check(v1.SetFromV2(v2))
	build := layers.NewBuild(params, layers.Eval)
	context, err := v1.Forward(build, journey(build))
	check(err)
	show(context)
	// Output:
	// ⎡-0.0739   0.0713⎤
	// ⎢-0.0748   0.0703⎥
	// ⎢-0.0749   0.0702⎥
	// ⎢-0.0760   0.0685⎥
	// ⎢-0.0763   0.0679⎥
	// ⎣-0.0754   0.0693⎦
}

func ExampleSelfAttentionV2() {
	params := layers.NewParams(tensor.Float32, 789)
	layer, err := layers.NewSelfAttentionV2(params.Scope(""), layers.SelfAttentionV2Config{In: 3, Out: 2})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	context, err := layer.Forward(build, journey(build))
	check(err)
	show(context)
	// Output:
	// ⎡-0.0739   0.0713⎤
	// ⎢-0.0748   0.0703⎥
	// ⎢-0.0749   0.0702⎥
	// ⎢-0.0760   0.0685⎥
	// ⎢-0.0763   0.0679⎥
	// ⎣-0.0754   0.0693⎦
}

func ExampleCausalAttention() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewCausalAttention(params.Scope(""), layers.CausalAttentionConfig{In: 3, Out: 2, ContextLength: 6})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	context, weights, err := layer.ForwardWithWeights(build, journey(build))
	check(err)
	show(weights, context) // no weight above the diagonal
	// Output:
	// ⎡1.0000  0.0000  0.0000  0.0000  0.0000  0.0000⎤
	// ⎢0.4833  0.5167  0.0000  0.0000  0.0000  0.0000⎥
	// ⎢0.3190  0.3408  0.3402  0.0000  0.0000  0.0000⎥
	// ⎢0.2445  0.2545  0.2542  0.2468  0.0000  0.0000⎥
	// ⎢0.1994  0.2060  0.2058  0.1935  0.1953  0.0000⎥
	// ⎣0.1624  0.1709  0.1706  0.1654  0.1625  0.1682⎦
	//
	// ⎡-0.4519   0.2216⎤
	// ⎢-0.5874   0.0058⎥
	// ⎢-0.6300  -0.0632⎥
	// ⎢-0.5675  -0.0843⎥
	// ⎢-0.5526  -0.0981⎥
	// ⎣-0.5299  -0.1081⎦
}

func ExampleCausalAttention_dropout() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewCausalAttention(params.Scope(""), layers.CausalAttentionConfig{In: 3, Out: 2, Dropout: 0.5})
	check(err)
	// Only a graph for training drops weights; which ones, its key says.
	build := layers.NewBuild(params, layers.Train)
	_, weights, err := layer.ForwardWithWeights(build, journey(build))
	check(err)
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

func ExampleMultiHeadAttentionWrapper() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewMultiHeadAttentionWrapper(params.Scope(""), layers.MultiHeadAttentionWrapperConfig{
		Head:     layers.CausalAttentionConfig{In: 3, Out: 2, ContextLength: 6},
		NumHeads: 2,
	})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	context, err := layer.Forward(build, journey(build))
	check(err)
	show(context) // two columns of each head
	// Output:
	// ⎡-0.4519   0.2216   0.4772   0.1063⎤
	// ⎢-0.5874   0.0058   0.5891   0.3257⎥
	// ⎢-0.6300  -0.0632   0.6202   0.3860⎥
	// ⎢-0.5675  -0.0843   0.5478   0.3589⎥
	// ⎢-0.5526  -0.0981   0.5321   0.3428⎥
	// ⎣-0.5299  -0.1081   0.5077   0.3493⎦
}

func ExampleMultiHeadAttention() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewMultiHeadAttention(params.Scope(""), layers.MultiHeadAttentionConfig{
		In: 3, Out: 2, NumHeads: 2, ContextLength: 6,
	})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	context, err := layer.Forward(build, journey(build))
	check(err)
	show(context)
	// Output:
	// ⎡0.3190  0.4858⎤
	// ⎢0.2943  0.3897⎥
	// ⎢0.2856  0.3593⎥
	// ⎢0.2693  0.3873⎥
	// ⎢0.2639  0.3928⎥
	// ⎣0.2575  0.4028⎦
}

func ExampleAdditiveAttention() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAdditiveAttention(params.Scope(""), layers.AdditiveAttentionConfig{Query: 2, Key: 3, Attn: 4})
	check(err)
	// One query of width 2, as from a decoder, attends to the six words.
	build := layers.NewBuild(params, layers.Eval)
	query := build.Input("query", 1, 2)
	check(G.Let(query, tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float32{0.5, -1}))))
	context, weights, err := layer.ForwardWithWeights(build, query, journey(build))
	check(err)
	show(weights, context)
	// Output:
	// R[0.1644  0.1666  0.1667  0.1665  0.1713  0.1645]
	// R[0.4341  0.5823  0.5255]
}
