package train_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"

	"attention/internal/golden"
	"attention/train"
	"attention/train/text"
)

// torchRuns are the cases of testdata/torch/training.py.
var torchRuns = map[string]train.StepConfig{
	"sgd": {Solver: train.SolverConfig{Name: train.SGD},
		Schedule: train.ConstantRate(0.1)},
	"sgd_momentum": {Solver: train.SolverConfig{Name: train.SGD, Momentum: 0.9},
		Schedule: train.ConstantRate(0.05)},
	"adam": {Solver: train.SolverConfig{Name: train.Adam},
		Schedule: train.ConstantRate(0.01)},
	"adamw_decay": {Solver: train.SolverConfig{Name: train.AdamW, WeightDecay: 0.1},
		Schedule: train.ConstantRate(0.01)},
	"adamw_clip_cosine": {Solver: train.SolverConfig{WeightDecay: 0.1, Beta1: 0.8, Beta2: 0.95}, ClipNorm: 3,
		Schedule: train.ScheduleConfig{Schedule: train.Cosine{Peak: 0.03, Floor: 0.003, WarmupSteps: 3, Steps: 8}}},
}

// Only the order of sums differs. In float64 that leaves 7e-15 at losses and norms
// of about 5. In float32, where one rounding there is 2e-7, steps feed it back and
// Adam divides by the gradient's own size, so that an element whose gradient nearly
// cancels keeps fewer digits: seen is 1.2e-6.
var trainingTolerance = map[tensor.Dtype]float64{tensor.Float64: 1e-13, tensor.Float32: 5e-6}

func TestTenStepsOfTrainingAsPyTorch(t *testing.T) {
	for name, c := range torchRuns {
		for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			t.Run(name+"."+dtype.String(), func(t *testing.T) { trainAsPyTorch(t, name, c, dtype) })
		}
	}
}

func trainAsPyTorch(t *testing.T, name string, step train.StepConfig, dtype tensor.Dtype) {
	file := golden.Load(t, "torch/training.safetensors")
	m := newModel(t, dtype, 0, 0)
	for param, v := range m.params.All() {
		start := dense(dtype, v.Shape(), file.Float64("value."+param))
		require.NoError(t, m.params.Set(param, start))
	}
	var losses, norms, rates []float64
	c := train.Config{Steps: trainedSteps, StepConfig: step}
	c.OnStep = func(s train.StepResult) {
		require.Equal(t, len(losses), s.N)
		losses, norms, rates = append(losses, s.Loss), append(norms, s.GradNorm), append(rates, s.LearningRate)
	}
	require.NoError(t, m.loop(t, c).Run(context.Background(), torchBatches(file), nil))

	tol := trainingTolerance[dtype]
	golden.Close(t, "rates", file.Float64(name+".rate"), rates, 0, 1e-15)
	prefix := fmt.Sprintf("%s.%v.", name, dtype)
	golden.Close(t, "losses", file.Float64(prefix+"loss"), losses, tol, tol)
	golden.Close(t, "norms", file.Float64(prefix+"norm"), norms, tol, tol)
	for param, got := range m.values() {
		golden.Close(t, param, file.Float64(prefix+"value."+param), got, tol, tol)
	}
}

func torchBatches(file *golden.File) *batches {
	ids := map[string][]int{}
	for _, name := range []string{text.Inputs, text.Targets} {
		for _, id := range file.Int64(name) {
			ids[name] = append(ids[name], int(id))
		}
	}
	s := &batches{end: io.EOF}
	for lo := 0; lo < len(ids[text.Inputs]); lo += batchSize * contextLength {
		hi := lo + batchSize*contextLength
		s.list = append(s.list, textBatch(ids[text.Inputs][lo:hi], ids[text.Targets][lo:hi]))
	}
	return s
}
