package main

import (
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// gptModel is a GPT as a model to train.
type gptModel struct{ model *layers.GPT }

func (m *gptModel) String() string {
	c := m.model.Config()
	text := fmt.Sprintf("gpt, %d layers, %d heads", c.Layers, c.NumHeads)
	if c.NumKVHeads > 0 && c.NumKVHeads < c.NumHeads {
		text += fmt.Sprintf(" (%d of keys and values)", c.NumKVHeads)
	}
	text += fmt.Sprintf(", width %d", c.Width)
	for _, d := range []struct {
		of string
		p  float64
	}{{"embeddings", c.EmbeddingDropout}, {"attention", c.AttentionDropout}, {"residuals", c.ResidualDropout}} {
		if d.p > 0 {
			text += fmt.Sprintf(", dropout of %s %v", d.of, d.p)
		}
	}
	return text
}

func (m *gptModel) title() string   { return gptName }
func (m *gptModel) context() int    { return m.model.Config().Context }
func (m *gptModel) vocab() int      { return m.model.Config().Vocab }
func (m *gptModel) causal() bool    { return true }
func (m *gptModel) queries() string { return "c_attn.weight" } // their first columns

func (m *gptModel) forward(b *layers.Build, ids *G.Node) (*G.Node, error) {
	return m.model.Forward(b, ids)
}

// gptConfig is the config of a GPT for a vocabulary of size V.
func (o trainOptions) gptConfig(vocabulary int) layers.GPTConfig {
	return layers.GPTConfig{
		Vocab: vocabulary, Context: o.context, Width: o.width, Layers: o.layers, NumHeads: o.heads, NumKVHeads: o.kvHeads,
		Hidden: o.hidden, Activation: o.activation, Eps: o.normEps,
		EmbeddingDropout: o.embeddingDropout, AttentionDropout: o.attentionDropout, ResidualDropout: o.residualDropout,
		Untied: !o.tie, NoBias: !o.bias,
	}
}

// checkGPTSizes refuses what no memory would hold. It counts in float64, which does
// not overflow.
func (o trainOptions) checkGPTSizes(vocabulary int) error {
	b, t, e, v := float64(o.batch), float64(o.context), float64(o.width), float64(vocabulary)
	hidden := float64(o.hidden)
	if o.hidden == 0 {
		hidden = 4 * e
	}
	return checkTensors(largestGPTTensor, []sizedTensor{
		{"--width", "weights of a projection", 3 * e * e},
		{"--width, --hidden", "weights of a projection", e * hidden},
		{"--width", "weights of an embedding", v * e},
		{"--context, --width", "weights of an embedding", t * e},
		{"--batch, --context, --width", "elements of a batch's vectors", b * t * max(3*e, hidden)},
		{"--batch, --context", "scores of next " + unitOf(o.tokenizer), b * t * v},
		{"--layers, --width", "weights of all layers", float64(o.layers) * e * (4*e + 2*hidden)},
	})
}

// largestGPTTensor is how many numbers a tensor of a training step may hold.
const largestGPTTensor = 1 << 32
