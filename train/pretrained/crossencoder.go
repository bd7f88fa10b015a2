package pretrained

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"attention/internal/config"
	"attention/layers"
	"attention/train/text"
)

// crossName is the file of sentence-transformers that names the activation of a CrossEncoder.
const crossName = "config_sentence_transformers.json"

// OpenCrossEncoder is OpenEncoder for a folder that gives each pair of texts a score, with Classifier and Sigmoid: of
// sentence-transformers' CrossEncoder, BertForSequenceClassification or DistilBertForSequenceClassification with one
// label. Scores are sigmoids unless the folder names another activation.
func OpenCrossEncoder(dir string) (*Encoder, error) {
	return openEncoder(dir, "cross-encoder", func(e *Encoder, w *weights) (err error) {
		if err := e.readLabels(w); err != nil {
			return err
		}
		if n := len(e.Labels); n != 1 {
			return fmt.Errorf("labels: got %d, want one, the score of a pair", n)
		}
		if e.Sigmoid, err = isSigmoid(dir, e.origin.config); err != nil {
			return err
		}
		return e.addClassifier(0)
	})
}

// AddCrossEncoder adds a new Classifier of pairs with one label to an encoder that OpenEncoder read, and sets Sigmoid;
// see AddClassifier. Write then writes a folder for sentence-transformers' CrossEncoder.
func (e *Encoder) AddCrossEncoder(seed int64) error {
	e.Labels, e.Sigmoid = []string{"LABEL_0"}, true
	return e.addHead("cross-encoder", func(w *weights) error { return e.newClassifier(w, seed) })
}

// isSigmoid reports whether the activation of a CrossEncoder is a sigmoid. The file of sentence-transformers holds
// before config.json, whose first key is the newer one.
func isSigmoid(dir string, contents []byte) (bool, error) {
	var own struct {
		Activation string  `json:"activation_fn"`
		Prompt     *string `json:"default_prompt_name"`
	}
	if _, err := readJSON(dir, crossName, &own); err != nil {
		return false, err
	}
	if own.Prompt != nil {
		return false, fmt.Errorf("%s: default_prompt_name: got %.60q, want none", crossName, *own.Prompt)
	}
	var c struct {
		Newer struct {
			Activation string `json:"activation_fn"`
		} `json:"sentence_transformers"`
		Older string `json:"sbert_ce_default_activation_function"`
	}
	if err := config.Foreign.Decode(contents, &c); err != nil {
		return false, fmt.Errorf("%s: %w", configName, err)
	}
	name := cmp.Or(own.Activation, c.Newer.Activation, c.Older, "torch.nn.Sigmoid")
	kind := name[strings.LastIndexByte(name, '.')+1:]
	if !strings.HasPrefix(name, "torch.") || kind != "Sigmoid" && kind != "Identity" {
		return false, fmt.Errorf("activation_fn: got %.60q, want torch's Sigmoid or Identity", name)
	}
	return kind == "Sigmoid", nil
}

// Ranker scores texts for a query with an encoder of OpenCrossEncoder. Only one goroutine at a time may use it;
// Encoder.Ranker makes another over the same parameters.
type Ranker struct {
	encoder *Encoder
	f       *layers.Func
}

// Ranker returns a Ranker over the model's parameters.
func (e *Encoder) Ranker() (*Ranker, error) {
	if e.Classifier == nil || len(e.Labels) != 1 {
		return nil, errors.New("pretrained: ranker: got an Encoder that does not score pairs, want one of OpenCrossEncoder")
	}
	f, err := e.newFunc(e.Classifier.Forward)
	if err != nil {
		return nil, fmt.Errorf("pretrained: ranker: %w", err)
	}
	return &Ranker{e, f}, nil
}

// Scores returns the score of each text for a query, as the predict method of CrossEncoder. If a pair has too many
// tokens, the longer of its texts loses tokens at its end. Pairs of similar length are computed together. The error for
// a text names its index.
func (r *Ranker) Scores(ctx context.Context, query string, texts ...string) ([]float64, error) {
	if ctx == nil {
		return nil, errors.New("pretrained: scores: context: got nil, want one")
	}
	e, all := r.encoder, make([]text.Encoding, len(texts))
	limit := text.TruncationConfig{MaxLength: e.Sentence.MaxLength}
	for i, s := range texts {
		pair, err := e.Tokenizer.EncodeTexts(limit, query, s)
		if err != nil {
			return nil, fmt.Errorf("pretrained: scores: text %d: %w", i, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i] = text.Encoding{IDs: pair.IDs, Types: pair.Types}
	}
	scores := make([]float64, len(texts))
	err := e.run(ctx, r.f, all, func(i int, row []float64) {
		if scores[i] = row[0]; e.Sigmoid {
			scores[i] = 1 / (1 + math.Exp(-scores[i]))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("pretrained: scores: %w", err)
	}
	return scores, nil
}
