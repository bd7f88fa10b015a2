package loop_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"attention/internal/golden"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
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
		Schedule: train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.03, Floor: 0.003, WarmupSteps: 3, Steps: 8}}},
	"sgd_groups": {Solver: train.SolverConfig{Name: train.SGD, Momentum: 0.9, WeightDecay: 0.1, Groups: torchGroups},
		Schedule: train.ConstantRate(0.05)},
	"adam_groups": {Solver: train.SolverConfig{Name: train.Adam, WeightDecay: 0.1, Groups: torchGroups},
		Schedule: train.ConstantRate(0.01)},
	"adamw_groups": {Solver: train.SolverConfig{WeightDecay: 0.1, Beta1: 0.8, Beta2: 0.95, Groups: torchGroups},
		ClipNorm: 3,
		Schedule: train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.03, Floor: 0.003, WarmupSteps: 3, Steps: 8}}},
}

// torchGroups are the groups of those cases that have groups; in these cases torchFrozen is also frozen.
var torchGroups = []train.ParamGroup{
	{Params: "attention", LRFactor: new(0.1)},
	{Params: "output", LRFactor: new(3.0), WeightDecay: new(0.01)},
}

const torchFrozen = "tokens"

// Only the order of sums differs. In float64 this gives differences of 7e-15 in losses and norms of about 5. In float32
// one rounding at this size is 2e-7; later steps amplify it, and Adam divides by the gradient's own size, so that an
// element whose gradient nearly cancels has fewer correct digits: the largest difference seen is 1.2e-6.
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
	m := small.New(t, dtype, 0, 0)
	for param, v := range m.Params.All() {
		start := golden.Dense(dtype, file.Float64("value."+param), v.Shape()...)
		require.NoError(t, m.Params.Set(param, start))
	}
	if step.Solver.Groups != nil {
		require.NoError(t, m.Params.Freeze(torchFrozen))
	}
	var losses, norms, rates []float64
	c := loop.Config{Steps: small.Steps, StepConfig: step}
	c.OnStep = func(s train.StepResult) {
		require.Equal(t, len(losses)+1, s.Step)
		losses, norms, rates = append(losses, s.Loss), append(norms, s.GradNorm), append(rates, s.LearningRate)
	}
	require.NoError(t, m.Loop(t, c).Run(context.Background(), torchBatches(file), nil))

	tol := trainingTolerance[dtype]
	golden.Close(t, "rates", file.Float64(name+".rate"), rates, 0, 1e-15)
	prefix := fmt.Sprintf("%s.%v.", name, dtype)
	golden.Close(t, "losses", file.Float64(prefix+"loss"), losses, tol, tol)
	golden.Close(t, "norms", file.Float64(prefix+"norm"), norms, tol, tol)
	for param, got := range m.Values() {
		golden.Close(t, param, file.Float64(prefix+"value."+param), got, tol, tol)
		if m.Params.Frozen(param) {
			start := golden.Dense(dtype, file.Float64("value."+param), len(got))
			require.Equal(t, golden.Floats(t, start), got, param)
		}
	}
}

func torchBatches(file *golden.File) *small.List {
	ids := map[string][]int{}
	for _, name := range []string{text.Inputs, text.Targets} {
		for _, id := range file.Int64(name) {
			ids[name] = append(ids[name], int(id))
		}
	}
	s := &small.List{End: io.EOF}
	for lo := 0; lo < len(ids[text.Inputs]); lo += small.BatchSize * small.ContextLength {
		hi := lo + small.BatchSize*small.ContextLength
		s.List = append(s.List, small.TextBatch(ids[text.Inputs][lo:hi], ids[text.Targets][lo:hi]))
	}
	return s
}

// A GPT's losses over a hundred steps of AdamW on consecutive windows, with clipping and
// a cosine after a warm-up, are PyTorch's: testdata/torch/gpt_train.py.
func TestHundredStepsOfGPTAsPyTorch(t *testing.T) {
	configs := map[string]layers.GPTConfig{
		"bias": {VocabSize: 13, ContextLength: 7, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
			Activation: "gelu_new", TieWordEmbeddings: true, Bias: true},
		"plain": {VocabSize: 13, ContextLength: 7, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
			Activation: "gelu", TieWordEmbeddings: true},
	}
	// Later steps amplify roundings; differences of 2e-15 and 5e-7 were seen.
	tolerance := map[tensor.Dtype]float64{tensor.Float64: 1e-13, tensor.Float32: 5e-6}
	for name, c := range configs {
		for dtype, tol := range tolerance {
			t.Run(name+"."+dtype.String(), func(t *testing.T) { trainGPTAsPyTorch(t, name, c, dtype, tol) })
		}
	}
}

func trainGPTAsPyTorch(t *testing.T, name string, c layers.GPTConfig, dtype tensor.Dtype, tol float64) {
	file := golden.Load(t, "torch/gpt_train.safetensors")
	p := layers.NewParams(dtype, 0)
	model := must(layers.NewGPT(p.Scope(""), c))
	for param, v := range p.All() {
		require.NoError(t, p.Set(param, golden.Dense(dtype, file.Float64("weight."+param), v.Shape()...)))
	}
	var ids []int
	for _, id := range file.Int64("ids") {
		ids = append(ids, int(id))
	}
	shape := text.WindowConfig{Batch: 5, Context: 7}
	source := must(text.NewCycle(ids, shape))
	var losses []float64
	l := must(loop.New(p, text.TokenLoss(model.Loss), loop.Config{
		Steps: 100, OnStep: func(s train.StepResult) { losses = append(losses, s.Loss) },
		StepConfig: train.StepConfig{
			ClipNorm: 1,
			Solver:   train.SolverConfig{Beta1: 0.9, Beta2: 0.99, WeightDecay: 0.1, Decay: train.DecayMatrices},
			Schedule: train.ScheduleConfig{Schedule: train.CosineLR{Peak: 1e-2, Floor: 1e-3, WarmupSteps: 10, Steps: 80}},
		},
	}))
	require.NoError(t, l.Run(context.Background(), source, nil))

	prefix := fmt.Sprintf("%s.%v.", name, dtype)
	golden.Close(t, "losses", file.Float64(prefix+"loss"), losses, tol, 0)
	require.Less(t, losses[99], losses[0]-0.5)
	for _, param := range []string{
		"transformer.wte.weight", "transformer.h.1.attn.c_attn.weight", "transformer.ln_f.weight",
	} {
		v, _ := p.Get(param)
		golden.Close(t, param, file.Float64(prefix+"value."+param), golden.Floats(t, v), 10*tol, 0)
	}
}
