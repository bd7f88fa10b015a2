// Package pretrained imports GPT-2's weights and exports trained models. It reads and
// writes folders of a GPT's config.json and safetensors files in two formats: for Hugging Face's
// transformers (huggingface) and for plain PyTorch code (torch).
package pretrained

import (
	"errors"
	"fmt"
	"path/filepath"

	"attention/internal/dense"
	"attention/internal/folder"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// GPT is a GPT with its parameters and tokenizer.
type GPT struct {
	Model     *layers.Decoder
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

// Folder is a model folder whose config.json has been read:
//
//	config.json
//	model.safetensors, or the parts model-00001-of-0000N.safetensors that
//	model.safetensors.index.json names
type Folder struct {
	dir       string
	config    folderConfig
	tokenizer text.Tokenizer // nil if the folder does not name one
}

// Open reads the config.json of a folder in one of the Formats. For another model the error is
// ErrNotGPT.
func Open(dir string) (*Folder, error) {
	contents, err := folder.ReadFile(filepath.Join(dir, configName), folder.MaxConfig)
	if err != nil {
		return nil, about(dir, err)
	}
	return Parse(dir, contents)
}

// Parse is Open for a folder whose config.json has these contents.
func Parse(dir string, contents []byte) (*Folder, error) {
	f := &Folder{dir: dir}
	var err error
	if f.config, err = parseConfig(contents); err != nil {
		return nil, about(dir, fmt.Errorf("%s: %w", configName, err))
	}
	if f.tokenizer, err = f.config.tokenizer(dir); err != nil {
		return nil, about(dir, err)
	}
	return f, nil
}

// about returns an error about a folder.
func about(dir string, err error) error { return fmt.Errorf("pretrained: %s: %w", dir, err) }

// Spec returns what ReadGPT reads except the weights, and checks only how many they are.
// ReadGPT may still return an error about their names and shapes.
func (f *Folder) Spec() (Spec, error) {
	w, err := f.openWeights()
	if err != nil {
		return Spec{}, about(f.dir, err)
	}
	w.close()
	return Spec{Config: f.config.gpt, Dtype: w.dtype(), Tokenizer: f.tokenizer}, nil
}

// ReadGPT reads a GPT from a folder in one of the Formats, as Folder.ReadGPT does.
func ReadGPT(dir string) (*GPT, error) {
	f, err := Open(dir)
	if err != nil {
		return nil, err
	}
	return f.ReadGPT()
}

// ReadGPT reads the folder's GPT with its weights.
//
// The names of weights may lack "transformer."; the buffers attn.bias and attn.masked_bias
// of transformers' GPT-2 are skipped; a tied lm_head.weight may be present if it equals
// wte.weight. Weights in half precision are widened to float32. The parameters are float64 if
// wte.weight is, otherwise float32. They are read one by one into their own memory.
//
// One error lists all weights that do not fit the config. A NaN or infinite weight is an error
// that wraps train.ErrNotFinite, and a file that checkpoint.WriteParams wrote and that was changed
// since is one that wraps checkpoint.ErrDamaged.
func (f *Folder) ReadGPT() (*GPT, error) {
	g, err := f.readGPT()
	if err != nil {
		return nil, about(f.dir, err)
	}
	return g, nil
}

func (f *Folder) readGPT() (*GPT, error) {
	w, err := f.openWeights()
	if err != nil {
		return nil, err
	}
	defer w.close()
	p := layers.NewBlankParams(w.dtype())
	g := &GPT{Params: p, Tokenizer: f.tokenizer, EndOfText: f.config.endOfText(f.tokenizer)}
	if g.Model, err = layers.NewGPT(p.Scope(""), f.config.gpt); err != nil {
		return nil, err
	}
	if err := w.check(p, f.config); err != nil {
		return nil, err
	}
	if err := w.checkSeals(); err != nil {
		return nil, err
	}
	if err := w.fill(p, f.config); err != nil {
		return nil, err
	}
	if err := train.CheckFinite(p); err != nil {
		return nil, err
	}
	return g, nil
}

// openWeights opens the files of weights. A config of a much larger model than theirs is an error.
func (f *Folder) openWeights() (*weights, error) {
	w, err := openWeights(f.dir)
	if err != nil {
		return nil, err
	}
	if err := w.checkSize(f.config.gpt); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// CopyTo copies the weights to the parameters of a GPT that may have fewer positions or tokens, and another type.
func (g *GPT) CopyTo(p *layers.Params) error {
	if p == nil || g.Params == nil {
		return errors.New("pretrained: copy: got nil, want parameters")
	}
	for name, to := range p.All() {
		n := to.Shape().TotalSize()
		from, ok := g.Params.Get(name)
		if !ok || from.Shape().TotalSize() < n {
			return fmt.Errorf("pretrained: copy: %s: got weights of another shape, want %d of them", name, n)
		}
		if to.Dtype() == tensor.Float32 {
			copy(to.Float32s(), dense.Float32s(from, 0, n))
		} else {
			dense.SetFloats(to, dense.Float64s(from)[:n])
		}
	}
	return nil
}

// Dtype returns the type of the parameters; the zero Dtype if there are none.
func (g *GPT) Dtype() tensor.Dtype {
	if g.Params == nil {
		return tensor.Dtype{}
	}
	return g.Params.Dtype()
}
