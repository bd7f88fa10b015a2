package layers

import (
	"encoding/json"
	"math"

	"attention/graph/mask"
)

// GPTConfig sizes a GPT. Its JSON is GPT-2's config.json as Hugging Face's transformers
// have it, with nanoGPT's bias and with n_kv_head; other keys are left out when it is
// read.
type GPTConfig struct {
	Vocab      int    `json:"vocab_size"`          // V
	Context    int    `json:"n_positions"`         // the longest sequence
	Width      int    `json:"n_embd"`              // E
	Layers     int    `json:"n_layer"`             // blocks, at most 65536
	NumHeads   int    `json:"n_head"`              // H, a divisor of Width
	NumKVHeads int    `json:"n_kv_head,omitempty"` // K, a divisor of NumHeads; 0 means H
	Hidden     int    `json:"n_inner,omitempty"`   // width within the MLPs; 0 means 4·Width
	Activation string `json:"activation_function"` // gelu_new, gelu_pytorch_tanh (the same), gelu, relu or silu; empty means gelu_new

	Eps float64 `json:"layer_norm_epsilon"` // 0 means 1e-5

	EmbeddingDropout float64 `json:"embd_pdrop"`  // of the embeddings, in Train graphs; 0 means none
	AttentionDropout float64 `json:"attn_pdrop"`  // of the attention weights
	ResidualDropout  float64 `json:"resid_pdrop"` // of what attention and MLP add

	Untied bool `json:"-"` // lm_head has a weight of its own; in JSON "tie_word_embeddings": false
	NoBias bool `json:"-"` // no linear layer and no norm has a bias; in JSON "bias": false
}

// gptConfigFields are those of a GPTConfig without its methods.
type gptConfigFields GPTConfig

// gptConfigJSON is a GPTConfig in JSON. What is not said there is true.
type gptConfigJSON struct {
	gptConfigFields
	Tie  *bool `json:"tie_word_embeddings"`
	Bias *bool `json:"bias"`
}

// MarshalJSON writes all keys but n_kv_head and n_inner if they are 0.
func (c GPTConfig) MarshalJSON() ([]byte, error) {
	tie, bias := !c.Untied, !c.NoBias
	return json.Marshal(gptConfigJSON{gptConfigFields(c), &tie, &bias})
}

// UnmarshalJSON reads what MarshalJSON writes, and GPT-2's config.json.
func (c *GPTConfig) UnmarshalJSON(text []byte) error {
	var j gptConfigJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return errorf("GPT", "config: %w", err)
	}
	*c = GPTConfig(j.gptConfigFields)
	c.Untied, c.NoBias = j.Tie != nil && !*j.Tie, j.Bias != nil && !*j.Bias
	return nil
}

// gptActivations are the names that transformers have for activations.
var gptActivations = map[string]Activation{"": GELUTanh, "gelu_new": GELUTanh, "gelu_pytorch_tanh": GELUTanh,
	"gelu": GELU, "relu": ReLU, "silu": SiLU}

// maxBlocks is more than any model has, and few enough that counts of elements fit an int.
const maxBlocks = 1 << 16

// Validate returns an error that names the first wrong field.
func (c GPTConfig) Validate() error {
	const layer = "GPT"
	err := atLeastOne(layer, size{"Vocab", c.Vocab}, size{"Context", c.Context}, size{"Width", c.Width},
		size{"Layers", c.Layers}, size{"NumHeads", c.NumHeads})
	if err != nil {
		return err
	}
	if c.Layers > maxBlocks {
		return errorf(layer, "Layers: got %d, want at most %d", c.Layers, maxBlocks)
	}
	if err := tableFits(layer, size{"Width", c.Width}, size{"Vocab", c.Vocab}, size{"Context", c.Context}); err != nil {
		return err
	}
	if _, ok := gptActivations[c.Activation]; !ok {
		return errorf(layer, "Activation: got %q, want gelu_new, gelu_pytorch_tanh, gelu, relu or silu", c.Activation)
	}
	err = probabilities(layer, number{"EmbeddingDropout", c.EmbeddingDropout},
		number{"AttentionDropout", c.AttentionDropout}, number{"ResidualDropout", c.ResidualDropout})
	if err != nil {
		return err
	}
	return within(layer+": block", c.block().Validate())
}

// block is the config of each block. What it adds begins smaller the more blocks there
// are, so that the sum of all is as large as one (Radford et al. 2019).
func (c GPTConfig) block() BlockConfig {
	std := 0.02 / math.Sqrt(2*float64(c.Layers))
	return BlockConfig{
		Attention: AttentionConfig{
			Width: c.Width, NumHeads: c.NumHeads, NumKVHeads: c.NumKVHeads, Layout: GPT2, QKVBias: !c.NoBias, OutBias: !c.NoBias,
			Mask: mask.Causal{}, Dropout: c.AttentionDropout, OutDropout: c.ResidualDropout, OutStd: std,
		},
		MLP:  MLPConfig{Hidden: c.Hidden, Activation: gptActivations[c.Activation], Bias: !c.NoBias, Dropout: c.ResidualDropout, OutStd: std},
		Norm: c.norm(),
	}
}

func (c GPTConfig) norm() NormConfig { return NormConfig{Width: c.Width, Bias: !c.NoBias, Eps: c.Eps} }
