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
	// The initial values are those of PyTorch after torch.manual_seed(789).
	params := layers.NewParams(tensor.Float32, 789)
	layer, err := layers.NewAttention(params.Scope(""), layers.AttentionConfig{
		EmbedDim: 3, OutDim: 2, NumHeads: 1, ContextOnly: true})
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
	x := build.Input("x", 6, 3)
	if err := G.Let(x, words); err != nil {
		log.Fatal(err)
	}
	context, err := layer.Forward(build, x)
	if err != nil {
		log.Fatal(err)
	}
	// The machine computes the nodes that are passed to it.
	m, err := machine.New(context)
	if err != nil {
		log.Fatal(err)
	}
	if err := m.RunAll(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", context.Value())
	// Output:
	// ⎡-0.0739   0.0713⎤
	// ⎢-0.0748   0.0703⎥
	// ⎢-0.0749   0.0702⎥
	// ⎢-0.0760   0.0685⎥
	// ⎢-0.0763   0.0679⎥
	// ⎣-0.0754   0.0693⎦
}

// All parameters of a model except the last layer's are frozen: only that layer is trained.
func ExampleParams_Freeze() {
	params, err := layers.Declare(layers.NewGPT, layers.GPTConfig{VocabSize: 65, ContextLength: 32, EmbedDim: 16,
		NumLayers: 2, NumHeads: 2, Activation: "gelu"})
	if err != nil {
		log.Fatal(err)
	}
	if err := params.Freeze("wte", "wpe", "h", "ln_f"); err != nil {
		log.Fatal(err)
	}
	for name, shape := range params.Shapes() {
		if !params.Frozen(name) {
			fmt.Println(name, shape)
		}
	}
	fmt.Println(params.CountFrozen(), "of", params.Count(), "parameters are frozen")
	fmt.Println(params.Freeze("h.2.*"))
	// Output:
	// lm_head.weight (65, 16)
	// 7776 of 8816 parameters are frozen
	// layers: freeze: got "h.2.*", want a pattern of the 16 parameters' names, such as h.0, h.1, h
}

func ExampleLinear() {
	params := layers.NewParams(tensor.Float32, 123)
	// torch.nn.Linear(3, 2)
	linear, err := layers.NewLinear(params.Scope(""), layers.LinearConfig{InFeatures: 3, OutFeatures: 2, Bias: true})
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

// Two sentences of ids; 0 is the padding.
func ExampleEmbedding() {
	params := layers.NewParams(tensor.Float32, 123)
	// torch.nn.Embedding(9, 2, padding_idx=0)
	embedding, err := layers.NewEmbedding(params.Scope(""),
		layers.EmbeddingConfig{NumEmbeddings: 9, EmbeddingDim: 2, PaddingIdx: new(0)})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	ids := build.InputOf(tensor.Int, "ids", 2, 3)
	check(G.Let(ids, tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]int{8, 5, 1, 5, 0, 0}))))
	x, err := embedding.Forward(build, ids)
	check(err)
	fmt.Println(x.Shape())
	x, err = G.Reshape(x, tensor.Shape{6, 2})
	check(err)
	show(x)
	// Output:
	// (2, 3, 2)
	// ⎡-0.7849  -1.4096⎤
	// ⎢ 0.9666  -1.1481⎥
	// ⎢-0.1690   0.9178⎥
	// ⎢ 0.9666  -1.1481⎥
	// ⎢ 0.0000   0.0000⎥
	// ⎣ 0.0000   0.0000⎦
}

// About three in ten elements are dropped, and the others are divided by 0.7. In an Eval graph x is unchanged.
func ExampleDropout() {
	build := layers.NewBuild(layers.NewParams(tensor.Float32, 123), layers.Train)
	x := build.Input("x", 2, 4)
	check(G.Let(x, tensor.Ones(tensor.Float32, 2, 4)))
	y, err := layers.Dropout{P: 0.3}.Forward(build, x) // torch.nn.Dropout(0.3)
	check(err)
	check(G.Let(build.DropoutKey(), int64(1))) // train.Step feeds another one each step
	show(y)
	// Output:
	// ⎡1.4286  1.4286  1.4286  1.4286⎤
	// ⎣1.4286  0.0000  1.4286  1.4286⎦
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
