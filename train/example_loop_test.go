package train_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A one-layer language model learns a line of text by heart.
func ExampleLoop() {
	const batch, positions, width = 8, 12, 16
	line := strings.Repeat("the quick brown fox jumps over the lazy dog. ", 20)
	characters, err := text.NewVocabulary(line)
	check(err)
	ids, err := characters.Encode(line)
	check(err)

	params := layers.NewParams(tensor.Float32, 1)
	model, err := layers.NewLanguageModel(params.Scope(""), layers.LanguageModelConfig{
		Vocab: characters.Len(), Context: positions, Width: width,
		Attention: layers.VariantConfig{Layer: layers.MultiHead, DIn: width, DOut: width, NumHeads: 4},
	})
	check(err)
	loss := func(b *layers.Build) (*G.Node, error) { return tokenLoss(b, model, batch, positions) }

	loop, err := train.New(params, loss, train.Config{
		Steps:    150,
		Schedule: train.ScheduleConfig{Constant: train.Constant{Rate: 0.01}},
	})
	check(err)
	windows, err := text.NewWindows(ids, text.WindowConfig{Batch: batch, Context: positions}, 0)
	check(err)
	whole, err := text.NewEpoch(ids, text.WindowConfig{Batch: batch, Context: positions})
	check(err)

	ctx := context.Background()
	before, err := loop.Evaluate(ctx, whole)
	check(err)
	check(loop.Run(ctx, windows, nil))
	after, err := loop.Evaluate(ctx, whole)
	check(err)
	fmt.Printf("after %d steps the loss has fallen to less than a tenth: %v\n", loop.Steps(), after.Loss < before.Loss/10)
	// Output: after 150 steps the loss has fallen to less than a tenth: true
}

// tokenLoss is the cross-entropy of the tokens that follow those of a batch.
func tokenLoss(b *layers.Build, model *layers.LanguageModel, batch, positions int) (*G.Node, error) {
	inputs, err := b.InputOf(tensor.Int, text.Inputs, batch, positions), b.Err()
	if err != nil {
		return nil, err
	}
	targets, err := b.InputOf(tensor.Int, text.Targets, batch, positions), b.Err()
	if err != nil {
		return nil, err
	}
	logits, err := model.Forward(b, inputs)
	if err != nil {
		return nil, err
	}
	return graph.CrossEntropy(logits, targets)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
