package bench

import (
	"math/rand/v2"

	"attention/layers"
	"attention/train"
	"attention/train/text"
)

// vocab is the size of the GPT's vocabulary: the characters of a text.
const vocab = 65

// gpt returns the config of the model: nanoGPT's, without biases.
func (w work) gpt() layers.GPTConfig {
	return layers.GPTConfig{
		VocabSize: vocab, ContextLength: w.tokens, EmbedDim: w.width, NumLayers: w.layers, NumHeads: w.heads,
		NumKVHeads: w.kvHeads, Activation: "gelu", TieWordEmbeddings: true}
}

// blocks returns the number of the GPT's blocks, or 0 in another mode.
func (w work) blocks() int {
	if w.mode != gptStep {
		return 0
	}
	return w.layers
}

// newGPTStep returns a function that takes one training step of AdamW, with clipping, on
// random tokens.
func newGPTStep(w work) (func() error, error) {
	p := layers.NewParams(w.elementType(), 123)
	model, err := layers.NewGPT(p.Scope(""), w.gpt())
	if err != nil {
		return nil, err
	}
	shape := text.WindowConfig{Batch: w.batch, Context: w.tokens}
	loop, err := train.New(p, text.TokenLoss(model.Forward, shape), train.Config{
		Steps: 1,
		StepConfig: train.StepConfig{
			ClipNorm: 1, Schedule: train.ConstantRate(1e-3),
			Solver: train.SolverConfig{Beta1: 0.9, Beta2: 0.99, WeightDecay: 0.1, Decay: train.DecayMatrices},
		},
	})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	ids := make([]int, 10*w.tokens+1)
	for i := range ids {
		ids[i] = random.IntN(vocab)
	}
	source, err := text.NewWindows(ids, shape, 0)
	if err != nil {
		return nil, err
	}
	return func() error {
		batch, err := source.Next()
		if err == nil {
			_, err = loop.Step(batch)
		}
		return err
	}, nil
}

// stepFlop returns the operations of a training step's matrix products: those of the
// forward pass and, for each, the two of its gradients.
func (w work) stepFlop() int {
	rows, e := w.batch*w.tokens, w.width
	kv := w.keyHeads() * e / w.heads
	seen := w.tokens * (w.tokens + 1) / 2
	block := 2*rows*e*(e+kv+kv+e) + 2*2*rows*e*4*e + 2*2*w.batch*e*seen // projections; MLP; q·kᵀ and weights·v
	return 3 * (w.layers*block + 2*rows*e*vocab)
}
