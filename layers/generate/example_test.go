package generate_test

import (
	"context"
	"fmt"

	"attention/layers"
	"attention/layers/generate"

	"gorgonia.org/tensor"
)

// A model with random weights continues a text at random; equal seeds give equal texts.
func Example() {
	params := layers.NewParams(tensor.Float32, 1)
	model, err := layers.NewGPT(params.Scope(""),
		layers.GPTConfig{VocabSize: 50, ContextLength: 32, EmbedDim: 16, NumLayers: 2, NumHeads: 4, Activation: "gelu_new",
			TieWordEmbeddings: true, Bias: true})
	if err != nil {
		panic(err)
	}
	g, err := generate.New(model, generate.Config{Temperature: 0.8, TopK: 5, Seed: 1})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := g.Prompt(ctx, []int{3, 14, 15}); err != nil {
		panic(err)
	}
	text := []int{}
	for range 6 {
		id, err := g.Next(ctx)
		if err != nil {
			panic(err)
		}
		text = append(text, id)
	}
	fmt.Println(text)
	// Output: [28 30 30 16 32 41]
}
