package loop_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"attention/layers"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

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
	model, err := chapter.NewLanguageModel(params.Scope(""), chapter.LanguageModelConfig{
		VocabSize: characters.Len(), ContextLength: positions, EmbedDim: width,
		Attention: chapter.Config{Layer: "multi_head", EmbedDim: width, OutDim: width, NumHeads: 4},
	})
	check(err)
	shape := text.WindowConfig{Batch: batch, Context: positions}
	l, err := loop.New(params, text.TokenLoss(model.Loss), loop.Config{
		Steps:      150,
		StepConfig: train.StepConfig{Schedule: train.ConstantRate(0.01)},
	})
	check(err)
	windows, err := text.NewWindows(ids, shape, 0)
	check(err)
	whole, err := text.NewEpoch(ids, shape)
	check(err)

	ctx := context.Background()
	before, err := l.Evaluate(ctx, whole)
	check(err)
	check(l.Run(ctx, windows, nil))
	after, err := l.Evaluate(ctx, whole)
	check(err)
	fmt.Printf("after %d steps the loss has fallen to less than a tenth: %v\n", l.Steps(), after.Loss < before.Loss/10)
	// Output: after 150 steps the loss has fallen to less than a tenth: true
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
