package layers_test

import (
	"fmt"
	"log"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// All the steps: parameters, a layer, a graph, a machine that runs it.
func Example() {
	// Parameters begin as PyTorch's do after torch.manual_seed(123).
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := layers.NewSelfAttentionV1(params.Scope(""), layers.SelfAttentionV1Config{In: 3, Out: 2})
	if err != nil {
		log.Fatal(err)
	}
	// "Your journey starts with one step": a vector of three numbers for each word.
	words := tensor.New(tensor.WithShape(6, 3), tensor.WithBacking([]float32{
		0.43, 0.15, 0.89,
		0.55, 0.87, 0.66,
		0.57, 0.85, 0.64,
		0.22, 0.58, 0.33,
		0.77, 0.25, 0.10,
		0.05, 0.80, 0.55,
	}))
	// The graph, with an input that holds the words.
	build := layers.NewBuild(params, layers.Eval)
	x, err := build.InputOf(tensor.Float32, "x", 6, 3), build.Err()
	if err != nil {
		log.Fatal(err)
	}
	if err := G.Let(x, words); err != nil {
		log.Fatal(err)
	}
	context, err := layer.Forward(build, x)
	if err != nil {
		log.Fatal(err)
	}
	// The machine computes what it is asked for.
	m, err := machine.New(context)
	if err != nil {
		log.Fatal(err)
	}
	if err := m.RunAll(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", context.Value())
	// Output:
	// ⎡0.2996  0.8053⎤
	// ⎢0.3061  0.8210⎥
	// ⎢0.3058  0.8203⎥
	// ⎢0.2948  0.7939⎥
	// ⎢0.2927  0.7891⎥
	// ⎣0.2990  0.8040⎦
}

func ExampleLinear() {
	params := layers.NewParams(tensor.Float32, 123)
	// torch.nn.Linear(3, 2)
	linear, err := layers.NewLinear(params.Scope(""), layers.LinearConfig{In: 3, Out: 2, Bias: true})
	check(err)
	for name, value := range params.All() {
		fmt.Println(name, value.Shape())
	}
	build := layers.NewBuild(params, layers.Eval)
	y, err := linear.Forward(build, journey(build))
	check(err)
	show(y)
	// Output:
	// weight (2, 3)
	// bias (2)
	// ⎡-0.7732  -0.0625⎤
	// ⎢-0.7217  -0.4879⎥
	// ⎢-0.7211  -0.4822⎥
	// ⎢-0.5550  -0.5568⎥
	// ⎢-0.6248  -0.3720⎥
	// ⎣-0.5738  -0.6089⎦
}

func ExampleSimpleSelfAttention() {
	// Nothing to learn: every word is query, key and value at once.
	build := layers.NewBuild(layers.NewParams(tensor.Float32, 123), layers.Eval)
	context, weights, err := layers.SimpleSelfAttention{}.ForwardWithWeights(build, journey(build))
	check(err)
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

func ExampleVariantConfig() {
	// A layer by its name, as in a file of settings.
	config := layers.VariantConfig{Layer: layers.MultiHead, DIn: 3, DOut: 2, NumHeads: 2}
	params := layers.NewParams(tensor.Float32, 123)
	layer, err := config.New(params.Scope("attention"))
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
	model, err := layers.NewLanguageModel(params.Scope(""), layers.LanguageModelConfig{
		Vocab: 4, Context: 6, Width: 3,
		Attention: layers.VariantConfig{Layer: layers.Causal, DIn: 3, DOut: 2},
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

// journey is an input of the graph that holds the six words of Example.
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
