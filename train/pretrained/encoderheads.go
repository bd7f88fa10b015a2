package pretrained

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"attention/internal/config"
	"attention/internal/safetensors"
	"attention/layers"
)

// A head is what a family of encoders puts behind the vectors for a task.
type head struct {
	architecture string // in config.json: transformers' class
	weight       string // a tensor that shows that a folder has the head
	refuses      string // keys of config.json, of refusals
	// tied are tensors that repeat a parameter, in some folders.
	tied map[string]string
}

// ErrNoHead is the error of OpenEncoderClassifier and OpenMaskedLM about an encoder without their head.
var ErrNoHead = errors.New("pretrained: got an encoder without a head")

// noHead is an ErrNoHead that names what is missing.
type noHead struct{ error }

func (noHead) Is(target error) bool { return target == ErrNoHead }

// OpenEncoderClassifier is OpenEncoder for a folder that gives each text one class, with Classifier and Labels: of
// BertForSequenceClassification or DistilBertForSequenceClassification.
func OpenEncoderClassifier(dir string) (*Encoder, error) {
	return openEncoder(dir, "classifier", func(e *Encoder, w *weights) error {
		return cmp.Or(e.readLabels(w), e.checkLabels(), e.addClassifier(0))
	})
}

// OpenTokenClassifier is OpenEncoder for a folder that gives each token one class, with Tokens and Labels: of
// BertForTokenClassification or DistilBertForTokenClassification.
func OpenTokenClassifier(dir string) (*Encoder, error) {
	return openEncoder(dir, "token classifier", func(e *Encoder, w *weights) error {
		return cmp.Or(e.readLabels(w), e.checkLabels(), e.addTokens(0))
	})
}

// OpenMaskedLM is OpenEncoder for a folder that predicts masked tokens, with MaskedLM: of BertForMaskedLM or
// DistilBertForMaskedLM.
func OpenMaskedLM(dir string) (*Encoder, error) {
	return openEncoder(dir, "masked LM", func(e *Encoder, w *weights) (err error) {
		for name, of := range e.origin.head.tied {
			of = e.origin.family.weights.place(of).name
			if _, ok := w.tensors[name]; !ok {
				continue
			}
			if same, err := w.same(name, of); err != nil || !same {
				return cmp.Or(err, fmt.Errorf("weights: %s: got other numbers than %s's, want the same", name, of))
			}
		}
		e.MaskedLM, err = layers.NewMaskedLM(e.Model, 0)
		return err
	})
}

// AddClassifier adds a new Classifier of texts with these labels to an encoder that OpenEncoder read; see
// layers.NewEncoderClassifier. If the folder has a pooler, as in most models of BERT, the classifier begins with its
// values, as in transformers. Write then writes a folder of BertForSequenceClassification or
// DistilBertForSequenceClassification.
func (e *Encoder) AddClassifier(labels []string, seed int64) error {
	return e.addLabelled("classifier", labels, func(w *weights) error { return e.newClassifier(w, seed) })
}

// newClassifier makes a Classifier for Labels, with the folder's pooler if it has one.
func (e *Encoder) newClassifier(w *weights, seed int64) error {
	if err := e.addClassifier(seed); err != nil {
		return err
	}
	for _, name := range []string{"pooler.dense.weight", "pooler.dense.bias"} {
		at, p := e.origin.family.weights.place(name), e.Params
		v, _ := p.Get(name)
		if t, ok := w.tensors[at.name]; !ok || !slices.Equal(t.Shape, v.Shape()) || !isFloat(t.DType) {
			continue
		}
		value, err := w.value(p.Dtype(), at, v.Shape())
		if err = cmp.Or(err, keep(p, name, value)); err != nil {
			return err
		}
	}
	return nil
}

// AddTokenClassifier adds new Tokens with these labels to an encoder that OpenEncoder read; see
// layers.NewTokenClassifier. Write then writes a folder of BertForTokenClassification or
// DistilBertForTokenClassification.
func (e *Encoder) AddTokenClassifier(labels []string, seed int64) error {
	return e.addLabelled("token classifier", labels, func(*weights) error { return e.addTokens(seed) })
}

// addLabelled adds a head for classes.
func (e *Encoder) addLabelled(name string, labels []string, add func(w *weights) error) error {
	if sorted := slices.Sorted(slices.Values(labels)); len(slices.Compact(sorted)) < len(labels) {
		return fmt.Errorf("pretrained: %s: labels: got one twice, want different ones", name)
	}
	e.Labels = slices.Clone(labels)
	return e.addHead(name, func(w *weights) error {
		if err := e.checkLabels(); err != nil {
			return err
		}
		return add(w)
	})
}

// AddMaskedLM adds a new MaskedLM to an encoder that OpenEncoder read; see layers.NewMaskedLM. Write then writes a
// folder of BertForMaskedLM or DistilBertForMaskedLM.
func (e *Encoder) AddMaskedLM(seed int64) error {
	return e.addHead("masked LM", func(*weights) (err error) {
		e.MaskedLM, err = layers.NewMaskedLM(e.Model, seed)
		return err
	})
}

// addHead adds a head that the folder does not have.
func (e *Encoder) addHead(name string, add func(w *weights) error) error {
	o := &e.origin
	if o.dir == "" || o.head != nil {
		return fmt.Errorf("pretrained: %s: got an encoder with a head or not from a folder, want one of OpenEncoder", name)
	}
	w, err := o.family.open(o.dir)
	if err != nil {
		return about(o.dir, err)
	}
	defer w.close()
	if err := add(w); err != nil {
		return fmt.Errorf("pretrained: %s: %w", name, err)
	}
	o.head, o.isNew = o.family.heads[name], true
	return nil
}

// checkLabels returns an error for fewer than two classes.
func (e *Encoder) checkLabels() error {
	if n := len(e.Labels); n < 2 {
		return fmt.Errorf("labels: got %d, want at least 2", n)
	}
	return nil
}

// addClassifier makes the parameters of a Classifier for Labels.
func (e *Encoder) addClassifier(seed int64) error {
	return e.withDropout(true, func(p float64) (err error) {
		c := layers.EncoderClassifierConfig{NumLabels: len(e.Labels), Activation: e.origin.family.pooled, Dropout: p}
		e.Classifier, err = layers.NewEncoderClassifier(e.Model, c, seed)
		return err
	})
}

// addTokens makes the parameters of Tokens for Labels. DistilBERT's dropout of classes is not for those of tokens.
func (e *Encoder) addTokens(seed int64) error {
	return e.withDropout(e.origin.family != &distilBERT, func(p float64) (err error) {
		c := layers.TokenClassifierConfig{NumLabels: len(e.Labels), Dropout: p}
		e.Tokens, err = layers.NewTokenClassifier(e.Model, c, seed)
		return err
	})
}

// withDropout calls add with the dropout of config.json: that of classes, if there is one and isClasses, or the
// vectors'.
func (e *Encoder) withDropout(isClasses bool, add func(p float64) error) error {
	s, err := e.origin.family.settings(e.origin.config)
	if err != nil {
		return err
	}
	p, field := s.HiddenDropout, "HiddenDropout"
	if s.ClassifierDropout != nil && isClasses {
		p, field = *s.ClassifierDropout, "ClassifierDropout"
	}
	return config.JSON(config.From(s, add(p), map[string]string{"Dropout": field}))
}

// checkArchitecture returns an error for a config.json of another head.
func (f *encoderFamily) checkArchitecture(contents []byte, h *head) error {
	var c struct {
		Architectures []string `json:"architectures"`
	}
	if err := config.Foreign.Decode(contents, &c); err != nil {
		return err
	}
	for _, other := range f.heads {
		if other.architecture != h.architecture && slices.Contains(c.Architectures, other.architecture) {
			return fmt.Errorf("architectures: got %s, want %s", other.architecture, h.architecture)
		}
	}
	return nil
}

// readLabels sets Labels to those of the folder.
func (e *Encoder) readLabels(w *weights) (err error) {
	scores := w.tensors[e.origin.head.weight]
	if len(scores.Shape) != 2 {
		return fmt.Errorf("weights: %s: got shape %v, want two axes", scores.Name, scores.Shape)
	}
	e.Labels, err = labelsIn(e.origin.config, scores.Shape[0])
	return err
}

// labelsIn returns the names of n classes in a config.json, or those of transformers if it has none.
func labelsIn(contents []byte, n int) ([]string, error) {
	var c struct {
		Labels map[string]string `json:"id2label"`
	}
	if err := config.Foreign.Decode(contents, &c); err != nil {
		return nil, err
	}
	if len(c.Labels) != n && c.Labels != nil {
		return nil, fmt.Errorf("id2label: got %d labels, want the %d of the weights", len(c.Labels), n)
	}
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprint("LABEL_", i)
		if name, ok := c.Labels[strconv.Itoa(i)]; ok {
			labels[i] = name
		} else if c.Labels != nil {
			return nil, fmt.Errorf("id2label: got no %d, want 0 to %d", i, n-1)
		}
	}
	return labels, nil
}

// newWeights returns the tensors of an encoder with a new head, by transformers' names.
func (e *Encoder) newWeights(w *weights) (all []safetensors.Tensor) {
	for name, shape := range e.Params.Shapes() {
		if e.Params.IsAdapter(name) {
			continue
		}
		at := e.origin.family.weights.place(name).name
		d := cmp.Or(w.tensors[at].DType, w.tensors["embeddings.word_embeddings.weight"].DType)
		if !isHead(at) || strings.HasPrefix(at, "pooler.") {
			at = e.origin.family.prefix + at
		}
		all = append(all, safetensors.Tensor{Name: at, Shape: shape, Data: e.stream(name, d)})
	}
	return all
}

// newConfig returns the config.json of an encoder with a new head.
func (e *Encoder) newConfig() ([]byte, error) {
	fields := map[string]any{}
	for key, value := range members(e.origin.config) {
		fields[key] = value
	}
	fields["architectures"], fields["tie_word_embeddings"] = []string{e.origin.head.architecture}, true
	if addLabels(fields, e.Labels); e.Classifier != nil && len(e.Labels) > 1 {
		fields["problem_type"] = singleLabel
	}
	return jsonOf(fields)
}
