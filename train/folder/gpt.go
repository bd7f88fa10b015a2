// Package folder reads and writes language models as folders: config.json and
// safetensors files with the weights, as Hugging Face's transformers keep GPT-2 and as
// plain PyTorch code likes them.
package folder

import (
	"fmt"

	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// GPT is a GPT and what belongs to it.
type GPT struct {
	Model     *layers.GPT
	Params    *layers.Params
	Tokenizer train.Tokenizer // nil if the folder does not say which
	EndOfText int             // the id between texts; −1 if there is none
}

// ReadGPT reads a GPT from a folder in one of the Formats, or from that of a run of
// attention train:
//
//	config.json
//	model.safetensors, or the parts model-00001-of-0000N.safetensors that
//	model.safetensors.index.json names
//
// Another model is ErrNoGPT.
//
// The names of weights may lack "transformer."; the buffers attn.bias and
// attn.masked_bias of older files are left out; lm_head.weight may be there when it is
// tied, if it equals wte.weight. Weights in half precision are widened to float32. The
// parameters are float64 if wte.weight is, otherwise float32, and are read one by one
// into their place.
//
// All that keeps the weights from being those of the config is listed in one error.
func ReadGPT(dir string) (*GPT, error) {
	g, err := readGPT(dir)
	if err != nil {
		return nil, fmt.Errorf("folder: %s: %w", dir, err)
	}
	return g, nil
}

func readGPT(dir string) (_ *GPT, err error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	files, err := openWeights(dir)
	if err != nil {
		return nil, err
	}
	defer files.close()
	if err := files.checkSize(c.gpt); err != nil {
		return nil, err
	}
	g := &GPT{Params: layers.NewBlankParams(files.dtype())}
	if g.Model, err = layers.NewGPT(g.Params.Scope(""), c.gpt); err != nil {
		return nil, err
	}
	if err := files.check(g.Params, c); err != nil {
		return nil, err
	}
	if err := files.fill(g.Params, c); err != nil {
		return nil, err
	}
	if g.Tokenizer, err = c.tokenizer(dir); err != nil {
		return nil, err
	}
	g.EndOfText = c.endOfText(g.Tokenizer)
	return g, nil
}

// Dtype is the type of the parameters.
func (g *GPT) Dtype() tensor.Dtype { return g.Params.Dtype() }
