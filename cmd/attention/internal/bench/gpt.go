package bench

import (
	"math/rand/v2"

	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"
)

// gpt returns the config of the model: nanoGPT's, without biases.
func (w work) gpt() layers.GPTConfig {
	return layers.GPTConfig{
		VocabSize: w.VocabSize, ContextLength: w.Tokens, EmbedDim: w.EmbedDim, NumLayers: w.NumLayers, NumHeads: w.NumHeads,
		NumKVHeads: w.NumKVHeads, Activation: "gelu", TieWordEmbeddings: true}
}

// newGPTStep returns a function that takes one training step of AdamW, with clipping, on
// random tokens.
func newGPTStep(w work) (func() (train.StepResult, error), error) {
	p := layers.NewParams(w.elementType(), 123)
	model, err := layers.NewGPT(p.Scope(""), w.gpt())
	if err != nil {
		return nil, err
	}
	shape := text.WindowConfig{Batch: w.Batch, Context: w.Tokens}
	l, err := loop.New(p, text.TokenLoss(model.Loss), loop.Config{
		Steps: 1, Precision: w.precision(),
		StepConfig: train.StepConfig{
			ClipNorm: 1, Schedule: train.ConstantRate(1e-3),
			Solver: train.SolverConfig{Beta1: 0.9, Beta2: 0.99, WeightDecay: 0.1, Decay: train.DecayMatrices},
		},
	})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	ids := make([]int, 10*w.Tokens+1)
	for i := range ids {
		ids[i] = random.IntN(w.VocabSize)
	}
	source, err := text.NewWindows(ids, shape, 0)
	if err != nil {
		return nil, err
	}
	return func() (train.StepResult, error) {
		batch, err := source.Next()
		if err != nil {
			return train.StepResult{}, err
		}
		return l.Step(batch)
	}, nil
}
