package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// A run saves every 20 steps, is stopped after 50 and resumes, perhaps in another
// process: it ends with the bits of a run that was never stopped.
func ExampleFolder() {
	folder, err := os.MkdirTemp("", "run")
	check(err)
	defer os.RemoveAll(folder)

	// run trains a word model until it is done or the step stopAfter is taken.
	run := func(name string, stopAfter int) (weights string, err error) {
		ids := make([]int, 100)
		for i := range ids {
			ids[i] = i * i % 7
		}
		shape := text.WindowConfig{Batch: 4, Context: 5}
		windows, err := text.NewWindows(ids, shape, 1)
		check(err)
		params := layers.NewParams(tensor.Float32, 1)
		model, err := chapter.NewLanguageModel(params.Scope(""), chapter.LanguageModelConfig{
			VocabSize: 7, ContextLength: 5, EmbedDim: 8,
			Attention: chapter.Config{Layer: "causal", EmbedDim: 8, OutDim: 8, Dropout: 0.1}})
		check(err)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		l, err := loop.New(params, text.TokenLoss(model.Loss), loop.Config{
			Steps:      100,
			StepConfig: train.StepConfig{Accumulate: 2, Schedule: train.ConstantRate(0.01)}, // 2·4 windows per step
			OnStep: func(s train.StepResult) {
				if s.Step == stopAfter {
					stop()
				}
			},
		})
		check(err)

		checkpoints, err := checkpoint.Open(filepath.Join(folder, name), checkpoint.Config{Every: 20})
		check(err)
		defer checkpoints.Close()
		l.SaveTo(checkpoints)
		if _, err := checkpoints.Restore(l, windows); err != nil { // does nothing the first time
			return "", err
		}
		err = l.Run(ctx, windows, nil)
		saved, stepsErr := checkpoints.Steps()
		check(stepsErr)
		fmt.Println(name, "has checkpoints after", saved, "steps")
		return fmt.Sprint(params.Get("output.weight")), err
	}

	calm, err := run("calm", 0)
	check(err)
	_, err = run("stopped", 50)
	fmt.Println(errors.Is(err, context.Canceled))
	resumed, err := run("stopped", 0)
	check(err)
	fmt.Println(calm == resumed)
	// Output:
	// calm has checkpoints after [80 100] steps
	// stopped has checkpoints after [40 50] steps
	// true
	// stopped has checkpoints after [80 100] steps
	// true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
