package train

import (
	"cmp"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run"
	"attention/layers"
)

// gptConfig is the config of a GPT for a vocabulary of size V.
func (o options) gptConfig(vocabulary int) layers.GPTConfig {
	return layers.GPTConfig{
		VocabSize: vocabulary, ContextLength: o.context, EmbedDim: o.width, NumLayers: o.layers, NumHeads: o.heads, NumKVHeads: o.kvHeads,
		DimFeedforward: o.hidden, Activation: o.activation, Eps: o.normEps,
		EmbeddingDropout: o.embeddingDropout, AttentionDropout: o.attentionDropout, ResidualDropout: o.residualDropout,
		TieWordEmbeddings: o.tie, Bias: o.bias,
	}
}

// checkGPTSizes refuses what no memory would hold. It counts in float64, which does
// not overflow.
func (o options) checkGPTSizes(vocabulary int) error {
	b, t, e, v := float64(o.batch), float64(o.context), float64(o.width), float64(vocabulary)
	hidden := float64(o.hidden)
	if o.hidden == 0 {
		hidden = 4 * e
	}
	return cmp.Or(
		flags.CheckTensor("--width", "weights of a projection", 3*e*e, largestGPTTensor),
		flags.CheckTensor("--width, --hidden", "weights of a projection", e*hidden, largestGPTTensor),
		flags.CheckTensor("--width", "weights of an embedding", v*e, largestGPTTensor),
		flags.CheckTensor("--context, --width", "weights of an embedding", t*e, largestGPTTensor),
		flags.CheckTensor("--batch, --context, --width", "elements of a batch's vectors", b*t*max(3*e, hidden), largestGPTTensor),
		flags.CheckTensor("--batch, --context", "scores of next "+run.UnitOf(o.tokenizer), b*t*v, largestGPTTensor),
		flags.CheckTensor("--layers, --width", "weights of all layers", float64(o.layers)*e*(4*e+2*hidden), largestGPTTensor),
	)
}

// largestGPTTensor is how many numbers a tensor of a training step may hold.
const largestGPTTensor = 1 << 32
