package pretrained_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// tuneSmall fine-tunes the model of a folder for six steps, and returns their losses.
func tuneSmall(ctx context.Context, folder, talks string, seed int64, onStep func()) (losses []float64, err error) {
	base, err := pretrained.ReadGPT(folder)
	if err != nil {
		return nil, err
	}
	if err := base.Params.AddLoRA(layers.LoRAConfig{Rank: 2, Dropout: 0.1, Seed: seed}); err != nil {
		return nil, err
	}
	examples, err := text.OpenExamples(talks)
	if err != nil {
		return nil, err
	}
	defer examples.Close()
	template, err := text.OpenTemplate(folder, text.Alpaca, base.Tokenizer)
	if err != nil {
		return nil, err
	}
	lessons, err := text.NewLessons(ctx, text.LessonConfig{Tokenizer: base.Tokenizer, Template: template, Ends: base.Ends})
	if err != nil {
		return nil, err
	}
	c := text.PackConfig{Batch: 1, Context: 256}
	rows, err := text.NewPacked(ctx, examples, lessons, c)
	if err != nil {
		return nil, err
	}
	step := train.StepConfig{Schedule: train.ConstantRate(0.02), Seed: seed}
	l, err := loop.New(base.Params, text.PackedLoss(base.Model.PackedLoss), loop.Config{Steps: 6, StepConfig: step, OnStep: func(r train.StepResult) {
		losses = append(losses, r.Loss)
		onStep()
	}})
	if err != nil {
		return nil, err
	}
	err = l.Run(ctx, rows, nil)
	return losses, err
}

// A program may fine-tune several models from one folder at the same time: each gives the losses that it gives alone,
// and the end of a context stops only its own model.
func TestTuningAtOnce(t *testing.T) {
	folder, talks := smallModel()
	defer os.RemoveAll(filepath.Dir(folder))
	var alone [3][]float64
	for i := range alone {
		losses, err := tuneSmall(t.Context(), folder, talks, int64(i), func() {})
		require.NoError(t, err)
		require.Len(t, losses, 6)
		alone[i] = losses
	}
	require.NotEqual(t, alone[0][1:], alone[1][1:])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var together [3][]float64
	var errs [3]error
	var running sync.WaitGroup
	for i := range together {
		running.Go(func() {
			ctx, onStep := ctx, cancel // stops the last one after its first step
			if i < 2 {
				ctx, onStep = t.Context(), func() {}
			}
			together[i], errs[i] = tuneSmall(ctx, folder, talks, int64(i), onStep)
		})
	}
	running.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.ErrorIs(t, errs[2], context.Canceled)
	require.Equal(t, alone[0], together[0])
	require.Equal(t, alone[1], together[1])
	require.Equal(t, alone[2][:1], together[2])
}
