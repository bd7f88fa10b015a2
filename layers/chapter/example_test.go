package chapter_test

import (
	"fmt"
	"log"

	"attention/graph"
	"attention/graph/machine"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func ExampleSimpleSelfAttention() {
	// Nothing to learn: every word is at the same time query, key and value.
	build := layers.NewBuild(layers.NewParams(tensor.Float32, 123), layers.Eval)
	x := journey(build)
	context := build.Of(chapter.SimpleSelfAttention{}.Forward(build, x))
	weights := build.Of(chapter.SimpleSelfAttention{}.Weights(build, x)) // (1, T, T)
	weights = build.Of(graph.MergeHeads(weights))
	check(build.Err())
	show(weights, context)
	// Output:
	// ⎡0.2098  0.2006  0.1981  0.1242  0.1220  0.1452⎤
	// ⎢0.1385  0.2379  0.2333  0.1240  0.1082  0.1581⎥
	// ⎢0.1390  0.2369  0.2326  0.1242  0.1108  0.1565⎥
	// ⎢0.1435  0.2074  0.2046  0.1462  0.1263  0.1720⎥
	// ⎢0.1526  0.1958  0.1975  0.1367  0.1879  0.1295⎥
	// ⎣0.1385  0.2184  0.2128  0.1420  0.0988  0.1896⎦
	//
	// ⎡0.4421  0.5931  0.5790⎤
	// ⎢0.4419  0.6515  0.5683⎥
	// ⎢0.4431  0.6496  0.5671⎥
	// ⎢0.4304  0.6298  0.5510⎥
	// ⎢0.4671  0.5910  0.5266⎥
	// ⎣0.4177  0.6503  0.5645⎦
}

func ExampleSelfV1() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), chapter.SelfV1(3, 2))
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

func ExampleSelfV1_weights() {
	params := layers.NewParams(tensor.Float32, 789)
	v2, err := layers.NewAttention(params.Scope("v2"), chapter.SelfV2(3, 2))
	check(err)
	v1, err := layers.NewAttention(params.Scope("v1"), chapter.SelfV1(3, 2))
	check(err)
	// With the transposed weights of v2, v1 computes the same as v2.
	weights, err := v2.State(layers.Raw)
	check(err)
	check(v1.SetState(layers.Raw, weights))
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

func ExampleSelfV2() {
	params := layers.NewParams(tensor.Float32, 789)
	layer, err := layers.NewAttention(params.Scope(""), chapter.SelfV2(3, 2))
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

func ExampleCausal() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), chapter.Causal(3, 2))
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	in := layers.AttentionInput{Query: journey(build)}
	context := build.Of(layer.Attend(build, in))
	weights := build.Of(layer.Weights(build, in)) // (1, T, T)
	weights = build.Of(graph.MergeHeads(weights))
	check(build.Err())
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

func ExampleMultiHeadWrapper() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), chapter.MultiHeadWrapper(3, 2, 2))
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

func ExampleMultiHead() {
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewAttention(params.Scope(""), chapter.MultiHead(3, 2, 2))
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

func ExampleConfig() {
	// A layer is made by its name, as from a file of settings.
	config := chapter.Config{Layer: "multi_head", EmbedDim: 3, OutDim: 2, NumHeads: 2}
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := chapter.New(params.Scope("attention"), config)
	check(err)
	for name, value := range params.All() {
		fmt.Println(name, value.Shape())
	}
	build := layers.NewBuild(params, layers.Eval)
	context, err := layer.Forward(build, journey(build))
	check(err)
	fmt.Println(context.Shape())
	// Output:
	// attention.W_query.weight (2, 3)
	// attention.W_key.weight (2, 3)
	// attention.W_value.weight (2, 3)
	// attention.out_proj.weight (2, 2)
	// attention.out_proj.bias (2)
	// (6, 2)
}

func ExampleLanguageModel() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := chapter.NewLanguageModel(params.Scope(""), chapter.LanguageModelConfig{
		VocabSize: 4, ContextLength: 6, EmbedDim: 3,
		Attention: chapter.Config{Layer: "causal", EmbedDim: 3, OutDim: 2},
	})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	ids := build.InputOf(tensor.Int, "ids", 3)
	check(G.Let(ids, tensor.New(tensor.WithShape(3), tensor.WithBacking([]int{2, 0, 2}))))
	logits, err := model.Forward(build, ids)
	check(err)
	show(logits) // how likely each of the four tokens is to come next
	// Output:
	// ⎡-0.8258  -0.1049  -0.7249   0.4433⎤
	// ⎢-1.0663   0.0576  -0.7384   0.4126⎥
	// ⎣-1.2604   0.1752  -0.7767   0.3789⎦
}

func ExampleSection_Run() {
	section := chapter.Sections()[8]
	fmt.Printf("%d. %s\n%s\n", section.Number, section.Title, section.Text)
	steps, err := section.Run(tensor.Float32)
	check(err)
	for _, step := range steps {
		fmt.Printf("\n%s\n%s = %s\n%.4f", step.Text, step.Name, step.Formula, step.Value)
	}
	// Output:
	// 9. A causal mask of minus infinity
	// Later tokens are masked before the softmax.
	//
	// The scores of every token with every token.
	// scores = q·kᵀ
	// ⎡ 0.2899   0.0716   0.0760  -0.0138   0.1344  -0.0511⎤
	// ⎢ 0.4656   0.1723   0.1751   0.0259   0.1771   0.0085⎥
	// ⎢ 0.4594   0.1703   0.1731   0.0259   0.1745   0.0090⎥
	// ⎢ 0.2642   0.1024   0.1036   0.0186   0.0973   0.0122⎥
	// ⎢ 0.2183   0.0874   0.0882   0.0177   0.0786   0.0144⎥
	// ⎣ 0.3408   0.1270   0.1290   0.0198   0.1290   0.0078⎦
	//
	// The scores, minus infinity where a token may not be seen.
	// masked = fill(scores)
	// ⎡0.2899    -Inf    -Inf    -Inf    -Inf    -Inf⎤
	// ⎢0.4656  0.1723    -Inf    -Inf    -Inf    -Inf⎥
	// ⎢0.4594  0.1703  0.1731    -Inf    -Inf    -Inf⎥
	// ⎢0.2642  0.1024  0.1036  0.0186    -Inf    -Inf⎥
	// ⎢0.2183  0.0874  0.0882  0.0177  0.0786    -Inf⎥
	// ⎣0.3408  0.1270  0.1290  0.0198  0.1290  0.0078⎦
	//
	// Their scaled softmax: masked tokens have weight 0, and each row adds up to 1.
	// weights = softmax(masked / √2)
	// ⎡1.0000  0.0000  0.0000  0.0000  0.0000  0.0000⎤
	// ⎢0.5517  0.4483  0.0000  0.0000  0.0000  0.0000⎥
	// ⎢0.3800  0.3097  0.3103  0.0000  0.0000  0.0000⎥
	// ⎢0.2758  0.2460  0.2462  0.2319  0.0000  0.0000⎥
	// ⎢0.2175  0.1983  0.1984  0.1888  0.1971  0.0000⎥
	// ⎣0.1935  0.1663  0.1666  0.1542  0.1666  0.1529⎦
}

func ExampleSection_Run_words() {
	section := chapter.Sections()[4] // SelfAttentionV1
	section.Words = []string{"Your", "journey", "ends", "here"}
	section.Seed = 7
	steps, err := section.Run(tensor.Float32)
	check(err)
	for _, step := range steps {
		if step.Name == "weights" {
			fmt.Printf("%v\n%.4f", step.Columns, step.Value)
		}
	}
	// Output:
	// [Your journey ends here]
	// ⎡0.2544  0.3293  0.2136  0.2028⎤
	// ⎢0.2542  0.3978  0.1824  0.1656⎥
	// ⎢0.2627  0.3260  0.2118  0.1995⎥
	// ⎣0.2618  0.3295  0.2106  0.1981⎦
}

// journey is an input of the graph that holds six words of three numbers each.
func journey(b *layers.Build) *G.Node {
	x := b.Input("x", 6, 3)
	check(G.Let(x, tensor.New(tensor.WithShape(6, 3), tensor.WithBacking([]float32{
		0.43, 0.15, 0.89, 0.55, 0.87, 0.66, 0.57, 0.85, 0.64, 0.22, 0.58, 0.33, 0.77, 0.25, 0.10, 0.05, 0.80, 0.55}))))
	return x
}

// show computes nodes and prints them.
func show(nodes ...*G.Node) {
	m, err := machine.New(nodes...)
	check(err)
	check(m.RunAll())
	for _, n := range nodes {
		fmt.Printf("%.4f\n", n.Value())
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
