// Package pretrained reads and writes folders of models, which consist of config.json and safetensors files, in two
// formats. The first is that of Hugging Face's transformers (huggingface), for GPT-2, Llama, Mistral, Qwen 2 and 3,
// SmolLM 3, OLMo 2, Gemma 2 and 3 and GPT-NeoX. The second is for a GPT in plain PyTorch code (torch). The package also
// reads and writes models as GGUF files, the form of llama.cpp, reads and writes adapters in PEFT's form, and writes
// adapters for llama.cpp.
package pretrained

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/gguf"
	"attention/internal/mapped"
	"attention/layers"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// GPT is a decoder with its parameters and tokenizer.
type GPT struct {
	Model     *layers.Decoder
	Params    *layers.Params
	Tokenizer text.Tokenizer // nil if the folder does not name one
	EndOfText int            // id of the token between texts; −1 if there is none
	// Ends are the ids that end a text, from generation_config.json or else config.json.
	Ends []int
	// Labels are the names of the classes of a model that classifies texts with the parameter score.weight, as a
	// layers.Classifier does; nil for a model that continues texts.
	Labels []string
	// Ignored are the keys of config.json and generation_config.json that have no effect here and are not known to be
	// harmless.
	Ignored []string
	// ChatTemplate is the source of a template that Write writes in place of the folder's; "" keeps the folder's.
	ChatTemplate string

	origin *origin         // the folder of a model that was read; nil for others
	untied bool            // whether an adapter gave the model its own head, which its base does not have
	ctx    context.Context // when done, writing stops; nil means never
}

// WithContext returns the same model, which stops writing files when ctx is done and then returns the error of ctx.
func (g *GPT) WithContext(ctx context.Context) *GPT {
	same := *g
	same.ctx = ctx
	return &same
}

// writer is the destination of a file that a model writes until its context is done.
type writer struct {
	io.Writer
	ctx context.Context
}

func (w writer) Write(p []byte) (int, error) {
	if w.ctx != nil && w.ctx.Err() != nil {
		return 0, w.ctx.Err()
	}
	return w.Writer.Write(p)
}

// Spec is everything in a model folder except the weights.
type Spec struct {
	Config    layers.DecoderConfig
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
	contents  []byte // of config.json
	config    folderConfig
	tokenizer text.Tokenizer // nil if the folder does not name one
	gguf      *ggufFile      // for a GGUF file; nil for a folder
}

// Open reads the config.json of a folder in one of the Formats, or the head of a GGUF file, which is then used as a
// folder in Hugging Face's. For a model of another family the error is ErrFamily.
func Open(dir string) (*Folder, error) {
	if gguf.Is(dir) {
		return openGGUF(dir)
	}
	contents, err := folder.ReadFile(filepath.Join(dir, configName), folder.MaxConfig)
	if err != nil {
		return nil, about(dir, err)
	}
	return Parse(dir, contents)
}

// Parse is Open for a folder whose config.json has the given contents.
func Parse(dir string, contents []byte) (*Folder, error) {
	f := &Folder{dir: dir, contents: contents}
	var err error
	if f.config, err = parseConfig(contents); err != nil {
		return nil, about(dir, fmt.Errorf("%s: %w", configName, err))
	}
	if f.tokenizer, err = f.config.tokenizer(dir); err != nil {
		return nil, about(dir, err)
	}
	return f, nil
}

// Config returns the config of the folder's model.
func (f *Folder) Config() layers.DecoderConfig { return f.config.decoder }

// about returns an error about a folder.
func about(dir string, err error) error { return fmt.Errorf("pretrained: %s: %w", dir, err) }

// Spec returns everything that ReadGPT reads except the weights. It checks only the number of weights; ReadGPT may
// still return an error about their names and shapes.
func (f *Folder) Spec() (Spec, error) {
	if f.gguf != nil {
		return Spec{Config: f.config.decoder, Dtype: tensor.Float32, Tokenizer: f.tokenizer}, nil
	}
	w, err := f.openWeights()
	if err != nil {
		return Spec{}, about(f.dir, err)
	}
	w.close()
	return Spec{Config: f.config.decoder, Dtype: w.dtype(), Tokenizer: f.tokenizer}, nil
}

// ReadGPT reads a model from a folder in one of the Formats or from a GGUF file, as Folder.ReadGPT does.
func ReadGPT(dir string) (*GPT, error) {
	f, err := Open(dir)
	if err != nil {
		return nil, err
	}
	return f.ReadGPT()
}

// ReadGPT reads the folder's model with its weights.
//
// The names of weights may lack the prefix of the family ("transformer.", "model."); buffers that older versions of
// transformers wrote are skipped; a tied head may be present if it equals the token embeddings. The parameters are
// float64 if the token embeddings are, otherwise float32. Files are mapped into memory where the system can, and
// weights are used without a copy: opening reads only small tensors. The model keeps the old contents if a file is
// replaced; if a file is truncated, a run returns an error. Writing to a weight does not change its file. A matrix in
// bfloat16 stays in bfloat16 and is widened where it is used: see layers.Params.Keep. Call Widen before it is trained.
// Other weights in half precision are widened to float32.
//
// The matrices of a GGUF file stay in its number format and are decoded where they are used, with the bits of float32
// weights. They are used without a copy, or their blocks are copied if the rows have another order there. GPT-2's
// matrices, which the file has transposed, are converted to float32, and so are vectors.
//
// One error lists all weights that do not fit the config. The error for a NaN or infinite weight wraps
// train.ErrNotFinite; if the weight is mapped, the first run that reads it returns this error. The error for a file
// that was changed after checkpoint.WriteParams wrote it wraps checkpoint.ErrDamaged.
func (f *Folder) ReadGPT() (*GPT, error) {
	g, err := f.readGPT()
	if err != nil {
		return nil, about(f.dir, err)
	}
	return g, nil
}

func (f *Folder) readGPT() (*GPT, error) {
	if f.gguf != nil {
		return f.readGGUF()
	}
	w, err := f.openWeights()
	if err != nil {
		return nil, err
	}
	defer w.close()
	p := layers.NewStoredParams(w.dtype())
	g := &GPT{Params: p, Tokenizer: f.tokenizer, EndOfText: f.config.endOfText(f.tokenizer), origin: f.origin(w)}
	generation, err := f.generation()
	if err != nil {
		return nil, err
	}
	g.Ignored = f.ignored(generation)
	if g.Ends, err = f.ends(generation); err != nil {
		return nil, err
	}
	if g.Model, err = layers.NewDecoder(p.Scope(""), f.config.decoder); err != nil {
		return nil, err
	}
	if err := w.check(p, f.config); err != nil {
		return nil, err
	}
	if err := w.checkSeals(); err != nil {
		return nil, err
	}
	if err := mapped.Guard(func() error { return w.fill(p, f.config) }); err != nil {
		return nil, err
	}
	return g, nil
}

// openWeights opens the files of weights. A config that describes a much larger model than the files hold is an error.
func (f *Folder) openWeights() (*weights, error) {
	w, err := openWeights(f.dir, f.config.family.weights)
	if err != nil {
		return nil, err
	}
	if err := w.checkSize(f.config.decoder); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// CopyTo copies the weights to the parameters of a GPT, which may have fewer positions or tokens, and another type.
func (g *GPT) CopyTo(p *layers.Params) error {
	if p == nil || g.Params == nil {
		return errors.New("pretrained: copy: got nil, want parameters")
	}
	return mapped.Guard(func() error { return g.copyTo(p) })
}

func (g *GPT) copyTo(p *layers.Params) error {
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
