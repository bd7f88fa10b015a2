// Package folder reads and writes language models as folders: config.json and
// safetensors files with the weights, as Hugging Face's transformers keep GPT-2 and as
// plain PyTorch code likes them.
package folder

import (
	"fmt"

	"attention/layers"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// GPT is a GPT and what belongs to it.
type GPT struct {
	Model     *layers.GPT
	Params    *layers.Params
	Tokenizer text.Tokenizer // nil if the folder does not say which
	EndOfText int            // the id between texts; −1 if there is none
}

// Form is what a folder says of a GPT but for its weights.
type Form struct {
	Config    layers.GPTConfig
	Dtype     tensor.Dtype
	Tokenizer text.Tokenizer // nil if the folder does not say which
}

// ReadForm reads what ReadGPT does, but no weight: of those it only looks at how many
// there are. ReadGPT may still find that they are not those of the form.
func ReadForm(dir string) (Form, error) {
	f, err := openFolder(dir)
	if err != nil {
		return Form{}, fmt.Errorf("folder: %s: %w", dir, err)
	}
	f.files.close()
	return Form{Config: f.config.gpt, Dtype: f.files.dtype(), Tokenizer: f.tokenizer}, nil
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

func readGPT(dir string) (*GPT, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.files.close()
	g := &GPT{Params: layers.NewBlankParams(f.files.dtype()), Tokenizer: f.tokenizer, EndOfText: f.config.endOfText(f.tokenizer)}
	if g.Model, err = layers.NewGPT(g.Params.Scope(""), f.config.gpt); err != nil {
		return nil, err
	}
	if err := f.files.check(g.Params, f.config); err != nil {
		return nil, err
	}
	return g, f.files.fill(g.Params, f.config)
}

// opened is a folder whose files stand open.
type opened struct {
	config    config
	tokenizer text.Tokenizer
	files     *weights
}

func openFolder(dir string) (f opened, err error) {
	if f.config, err = readConfig(dir); err != nil {
		return f, err
	}
	if f.tokenizer, err = f.config.tokenizer(dir); err != nil {
		return f, err
	}
	if f.files, err = openWeights(dir); err != nil {
		return f, err
	}
	if err := f.files.checkSize(f.config.gpt); err != nil {
		f.files.close()
		return f, err
	}
	return f, nil
}

// Dtype is the type of the parameters.
func (g *GPT) Dtype() tensor.Dtype { return g.Params.Dtype() }
