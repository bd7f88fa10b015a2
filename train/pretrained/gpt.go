// Package pretrained imports GPT-2's weights and exports trained models. It reads and
// writes folders of a GPT's config.json and safetensors files in two formats: that of
// Hugging Face's transformers (huggingface) and one for plain PyTorch code (torch).
package pretrained

import (
	"fmt"

	"attention/layers"
	"attention/train"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// GPT is a GPT with its parameters and tokenizer.
type GPT struct {
	Model     *layers.GPT
	Params    *layers.Params
	Tokenizer text.Tokenizer // nil if the folder does not name one
	EndOfText int            // the id between texts; −1 if there is none
}

// Spec is everything in a model folder except the weights.
type Spec struct {
	Config    layers.GPTConfig
	Dtype     tensor.Dtype
	Tokenizer text.Tokenizer // nil if the folder does not name one
}

// Reader reads model folders. The zero value reads the Formats.
type Reader struct {
	// Config, if not nil, converts the contents of a folder's config.json of another
	// kind to those of a Format.
	Config func(contents []byte) ([]byte, error)
}

// ReadGPT reads a GPT from a folder in one of the Formats, as Reader.ReadGPT does.
func ReadGPT(dir string) (*GPT, error) { return Reader{}.ReadGPT(dir) }

// ReadSpec reads what ReadGPT reads except the weights, of which it checks only the number.
// ReadGPT may still return an error about their names and shapes.
func (r Reader) ReadSpec(dir string) (Spec, error) {
	f, err := r.open(dir)
	if err != nil {
		return Spec{}, fmt.Errorf("pretrained: %s: %w", dir, err)
	}
	f.weights.close()
	return Spec{Config: f.config.gpt, Dtype: f.weights.dtype(), Tokenizer: f.tokenizer}, nil
}

// ReadGPT reads a GPT from a folder in one of the Formats:
//
//	config.json
//	model.safetensors, or the parts model-00001-of-0000N.safetensors that
//	model.safetensors.index.json names
//
// For another model the error is ErrNotGPT.
//
// The names of weights may lack "transformer."; the buffers attn.bias and attn.masked_bias
// of older files are skipped; a tied lm_head.weight may be present if it equals wte.weight.
// Weights in half precision are widened to float32. The parameters are float64 if
// wte.weight is, otherwise float32. They are read one by one into their own memory.
//
// One error lists all weights that do not fit the config. A NaN or infinite weight is an error
// that wraps train.ErrNotFinite, and a file that train.WriteParams wrote and that was changed
// since is one that wraps train.ErrDamaged.
func (r Reader) ReadGPT(dir string) (*GPT, error) {
	g, err := r.readGPT(dir)
	if err != nil {
		return nil, fmt.Errorf("pretrained: %s: %w", dir, err)
	}
	return g, nil
}

func (r Reader) readGPT(dir string) (*GPT, error) {
	f, err := r.open(dir)
	if err != nil {
		return nil, err
	}
	defer f.weights.close()
	p := layers.NewBlankParams(f.weights.dtype())
	g := &GPT{Params: p, Tokenizer: f.tokenizer, EndOfText: f.config.endOfText(f.tokenizer)}
	if g.Model, err = layers.NewGPT(p.Scope(""), f.config.gpt); err != nil {
		return nil, err
	}
	if err := f.weights.check(p, f.config); err != nil {
		return nil, err
	}
	if err := f.weights.checkSeals(); err != nil {
		return nil, err
	}
	if err := f.weights.fill(p, f.config); err != nil {
		return nil, err
	}
	if err := train.CheckFinite(p); err != nil {
		return nil, err
	}
	return g, nil
}

// modelFolder is a model folder with its files of weights open.
type modelFolder struct {
	config    folderConfig
	tokenizer text.Tokenizer
	weights   *weights
}

func (r Reader) open(dir string) (f modelFolder, err error) {
	if f.config, err = r.readConfig(dir); err != nil {
		return f, err
	}
	if f.tokenizer, err = f.config.tokenizer(dir); err != nil {
		return f, err
	}
	if f.weights, err = openWeights(dir); err != nil {
		return f, err
	}
	if err := f.weights.checkSize(f.config.gpt); err != nil {
		f.weights.close()
		return f, err
	}
	return f, nil
}

// Dtype returns the type of the parameters.
func (g *GPT) Dtype() tensor.Dtype {
	if g == nil {
		return tensor.Dtype{}
	}
	return g.Params.Dtype()
}
