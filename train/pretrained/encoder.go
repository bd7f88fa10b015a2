package pretrained

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/mapped"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Encoder is an encoder with its parameters and tokenizer, and how sentence-transformers makes vectors of texts with it.
type Encoder struct {
	Model      *layers.Encoder
	Params     *layers.Params
	Tokenizer  *text.SubwordTokenizer
	Sentence   Sentence
	Classifier *layers.EncoderClassifier // of OpenEncoderClassifier, OpenCrossEncoder and AddClassifier; nil without one
	Tokens     *layers.TokenClassifier   // of OpenTokenClassifier and AddTokenClassifier; nil without one
	Labels     []string                  // names of the classes of Classifier or Tokens
	Sigmoid    bool                      // whether the score of a pair is the sigmoid of the classifier's
	MaskedLM   *layers.MaskedLM          // of OpenMaskedLM and AddMaskedLM; nil without one

	origin encoderOrigin
}

// OpenEncoder reads a folder of an encoder in the form of transformers or sentence-transformers:
//
//	config.json, of BERT or DistilBERT
//	model.safetensors
//	tokenizer.json, tokenizer_config.json
//	modules.json, sentence_bert_config.json and 1_Pooling/config.json, of sentence-transformers
//
// Weights of heads, such as pooler.dense.weight, are left out. The error for a model of another family is ErrFamily.
// One error lists all weights that do not fit the config.
func OpenEncoder(dir string) (*Encoder, error) { return openEncoder(dir, "", nil) }

// openEncoder reads a folder of an encoder with a head, unless its name is "". add makes the parameters of the head.
func openEncoder(dir, head string, add func(*Encoder, *weights) error) (*Encoder, error) {
	e, err := readEncoder(dir, head, add)
	if err != nil {
		return nil, about(dir, err)
	}
	return e, nil
}

func readEncoder(dir, head string, add func(*Encoder, *weights) error) (*Encoder, error) {
	contents, err := folder.ReadFile(filepath.Join(dir, configName), folder.MaxConfig)
	if err != nil {
		return nil, err
	}
	f, c, err := parseEncoder(contents)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	e := &Encoder{}
	e.origin = encoderOrigin{dir: dir, family: f, config: contents, head: f.heads[head]}
	if e.Sentence, e.origin.modules, err = openSentence(dir, c.ContextLength); err != nil {
		return nil, err
	}
	if e.Tokenizer, err = openBERTTokenizer(dir, e.Sentence.lowercase); err != nil {
		return nil, err
	}
	if n := e.Tokenizer.Len(); n > c.VocabSize {
		return nil, fmt.Errorf("tokenizer: got %d tokens, want at most the %d of %s", n, c.VocabSize, configName)
	}
	e.origin.sentence = e.Sentence
	if n := len(e.Tokenizer.WithTemplate(nil)); e.Sentence.MaxLength < n {
		return nil, fmt.Errorf("tokenizer: got a template of %d tokens, want at most the %d of the longest text", n,
			e.Sentence.MaxLength)
	}
	w, err := f.open(dir)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.checkSeals(); err != nil {
		return nil, err
	}
	if n := len(w.tensors); c.NumLayers > n { // before they are made
		return nil, fmt.Errorf("weights: got %d, want those of the %d layers of %s", n, c.NumLayers, configName)
	}
	tokens := w.tensors[f.weights.place("embeddings.word_embeddings.weight").name]
	if len(tokens.Shape) != 2 || tokens.Shape[0] != c.VocabSize || tokens.Shape[1] != c.Block.Attention.EmbedDim {
		return nil, fmt.Errorf("weights: embeddings.word_embeddings.weight: got shape %v, want (%d, %d) as in %s",
			tokens.Shape, c.VocabSize, c.Block.Attention.EmbedDim, configName)
	}
	dt := tensor.Float32
	for name, t := range w.tensors {
		if t.DType == safetensors.F64 && !isHead(name) {
			dt = tensor.Float64
		}
	}
	e.Params = layers.NewStoredParams(dt)
	if e.Model, err = layers.NewEncoder(e.Params.Scope(""), c); err != nil {
		return nil, err
	}
	if h := e.origin.head; h != nil {
		if _, ok := w.tensors[h.weight]; !ok {
			return nil, noHead{fmt.Errorf("weights: got no %s, want those of %s", h.weight, h.architecture)}
		}
		if err := cmp.Or(f.checkArchitecture(contents, h), checkRefused(contents, h.refuses)); err != nil {
			return nil, fmt.Errorf("%s: %w", configName, err)
		}
		if err := add(e, w); err != nil {
			return nil, err
		}
	}
	if err := w.checkEncoder(e.Params, f); err != nil {
		return nil, err
	}
	return e, mapped.Guard(func() error { return w.fillEncoder(e.Params, f) })
}

// parseEncoder returns the family and the config of a config.json.
func parseEncoder(contents []byte) (f *encoderFamily, c layers.EncoderConfig, err error) {
	var extra configExtra
	if err := config.Foreign.Decode(contents, &extra); err != nil {
		return nil, c, err
	}
	if f, err = encoderFamilyOf(extra.ModelType); err != nil {
		return nil, c, err
	}
	c, err = f.parse(contents)
	return f, c, err
}

// open opens the weights of a folder. Tensors get the names that they have in a model without a head; old names get
// their newer form.
func (f *encoderFamily) open(dir string) (*weights, error) {
	w, err := openWeights(dir, names{})
	if err != nil {
		return nil, err
	}
	renamed := map[string]stored{}
	for name, t := range w.tensors {
		name = strings.TrimPrefix(name, f.prefix)
		if stem, ok := strings.CutSuffix(name, "LayerNorm.gamma"); ok {
			name = stem + "LayerNorm.weight"
		} else if stem, ok := strings.CutSuffix(name, "LayerNorm.beta"); ok {
			name = stem + "LayerNorm.bias"
		}
		if _, ok := renamed[name]; ok {
			w.close()
			return nil, fmt.Errorf("weights: tensor %.100q comes twice, with and without a prefix or by an old name", name)
		}
		renamed[name] = t
	}
	w.tensors = renamed
	return w, nil
}

// isHead reports whether a tensor is part of a head, or not a weight.
func isHead(name string) bool {
	return !strings.HasPrefix(name, "embeddings.") && !strings.HasPrefix(name, "encoder.") &&
		!strings.HasPrefix(name, "transformer.") || name == "embeddings.position_ids"
}

// checkEncoder returns one error for all tensors that do not fit the parameters, except adapters.
func (w *weights) checkEncoder(p *layers.Params, f *encoderFamily) error {
	var missing, unknown, wrong []string
	used := map[string]bool{}
	for name, shape := range p.Shapes() {
		if p.IsAdapter(name) {
			continue
		}
		at := f.weights.place(name)
		used[at.name] = true
		if t, ok := w.tensors[at.name]; !ok {
			missing = append(missing, at.name)
		} else if !slices.Equal(t.Shape, shape) || !isFloat(t.DType) {
			wrong = append(wrong, fmt.Sprintf("%s is %s %v, want F32 %v", at.name, t.DType, tensor.Shape(t.Shape), shape))
		}
	}
	for name, t := range w.tensors {
		if !used[name] && !isHead(name) {
			unknown = append(unknown, fmt.Sprintf("%.100q", t.Name))
		}
	}
	slices.Sort(unknown)
	if err := dense.Mismatch(missing, unknown, wrong); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	return nil
}

// fillEncoder sets the values of the parameters.
func (w *weights) fillEncoder(p *layers.Params, f *encoderFamily) error {
	for name, shape := range p.Shapes() {
		v, err := w.value(p.Dtype(), f.weights.place(name), shape)
		if err != nil {
			return err
		}
		if err := keep(p, name, v); err != nil {
			return err
		}
	}
	return nil
}
