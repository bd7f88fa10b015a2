package train_test

import (
	"context"
	"fmt"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A GPT's losses over a hundred steps of AdamW on consecutive windows, with clipping and
// a cosine after a warm-up, are PyTorch's: testdata/torch/gpt_train.py.
func TestHundredStepsOfGPTAsPyTorch(t *testing.T) {
	configs := map[string]layers.GPTConfig{
		"bias":  {VocabSize: 13, ContextLength: 7, EmbedDim: 12, NumLayers: 2, NumHeads: 3, Activation: "gelu_new", TieWordEmbeddings: true, Bias: true},
		"plain": {VocabSize: 13, ContextLength: 7, EmbedDim: 12, NumLayers: 2, NumHeads: 3, Bias: false, Activation: "gelu", TieWordEmbeddings: true},
	}
	// Steps feed roundings back; seen are 2e-15 and 5e-7.
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
	model, err := layers.NewGPT(p.Scope(""), c)
	require.NoError(t, err)
	for param, v := range p.All() {
		require.NoError(t, p.Set(param, dense(dtype, v.Shape(), file.Float64("weight."+param))))
	}
	var ids []int
	for _, id := range file.Int64("ids") {
		ids = append(ids, int(id))
	}
	shape := text.WindowConfig{Batch: 5, Context: 7}
	source, err := text.NewCycle(ids, shape)
	require.NoError(t, err)
	var losses []float64
	loop, err := train.New(p, text.TokenLoss(model.Forward, shape), train.Config{
		Steps: 100, OnStep: func(s train.StepResult) { losses = append(losses, s.Loss) },
		StepConfig: train.StepConfig{
			ClipNorm: 1,
			Solver:   train.SolverConfig{Beta1: 0.9, Beta2: 0.99, WeightDecay: 0.1, Decay: train.DecayMatrices},
			Schedule: train.ScheduleConfig{Schedule: train.Cosine{Peak: 1e-2, Floor: 1e-3, WarmupSteps: 10, Steps: 80}},
		},
	})
	require.NoError(t, err)
	require.NoError(t, loop.Run(context.Background(), source, nil))

	prefix := fmt.Sprintf("%s.%v.", name, dtype)
	golden.Close(t, "losses", file.Float64(prefix+"loss"), losses, tol, 0)
	require.Less(t, losses[99], losses[0]-0.5)
	for _, param := range []string{"transformer.wte.weight", "transformer.h.1.attn.c_attn.weight", "transformer.ln_f.weight"} {
		v, _ := p.Get(param)
		golden.Close(t, param, file.Float64(prefix+"value."+param), floats(v), 10*tol, 0)
	}
}
