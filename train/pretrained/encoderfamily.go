package pretrained

import (
	"encoding/json"
	"fmt"
	"strings"

	"attention/internal/config"
	"attention/layers"
)

// encoderFamily describes a family of encoders by data: the meaning of its config.json, and the names of its weights.
type encoderFamily struct {
	name    string            // model_type
	prefix  string            // prefix of all names in models with a head
	keys    map[string]string // BERT's name for each key that is named differently in the family's config.json
	absent  encoderSettings   // values of keys that a config.json leaves out
	refuses string            // keys that are not supported here, a subset of refusals
	weights names
	heads   map[string]*head
	pooled  layers.Activation // of the first token's vector, before the scores of classes
}

// encoderSettings are the keys of BERT's config.json that shape a model.
type encoderSettings struct {
	VocabSize        int     `json:"vocab_size"`
	HiddenSize       int     `json:"hidden_size"`
	IntermediateSize int     `json:"intermediate_size"`
	NumHiddenLayers  int     `json:"num_hidden_layers"`
	NumHeads         int     `json:"num_attention_heads"`
	MaxPositions     int     `json:"max_position_embeddings"`
	TypeVocabSize    int     `json:"type_vocab_size"`
	HiddenAct        string  `json:"hidden_act"`
	LayerNormEps     float64 `json:"layer_norm_eps"`
	HiddenDropout    float64 `json:"hidden_dropout_prob"`
	AttentionDropout float64 `json:"attention_probs_dropout_prob"`

	ClassifierDropout *float64 `json:"classifier_dropout"` // nil means HiddenDropout
}

// bert is BERT (Devlin et al. 2019), with MiniLM, BGE and others of its form.
var bert = encoderFamily{
	name: "bert", prefix: "bert.",
	absent: encoderSettings{VocabSize: 30522, HiddenSize: 768, IntermediateSize: 3072, NumHiddenLayers: 12, NumHeads: 12,
		MaxPositions: 512, TypeVocabSize: 2, HiddenAct: "gelu", LayerNormEps: 1e-12, HiddenDropout: 0.1, AttentionDropout: 0.1},
	refuses: "position_embedding_type is_decoder add_cross_attention", pooled: layers.Tanh,
	heads: map[string]*head{
		"classifier": {architecture: "BertForSequenceClassification", weight: "classifier.weight",
			refuses: "problem_type"},
		"cross-encoder":    {architecture: "BertForSequenceClassification", weight: "classifier.weight"},
		"token classifier": {architecture: "BertForTokenClassification", weight: "classifier.weight"},
		"masked LM": {architecture: "BertForMaskedLM", weight: "cls.predictions.bias", refuses: "tie_word_embeddings",
			tied: map[string]string{"cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
				"cls.predictions.decoder.bias": "cls.predictions.bias"}},
	}}

// distilBERT is DistilBERT (Sanh et al. 2019).
var distilBERT = encoderFamily{
	name: "distilbert", prefix: "distilbert.",
	keys: map[string]string{"hidden_size": "dim", "intermediate_size": "hidden_dim", "num_hidden_layers": "n_layers",
		"num_attention_heads": "n_heads", "hidden_act": "activation", "hidden_dropout_prob": "dropout",
		"attention_probs_dropout_prob": "attention_dropout", "classifier_dropout": "seq_classif_dropout"},
	absent: encoderSettings{VocabSize: 30522, HiddenSize: 768, IntermediateSize: 3072, NumHiddenLayers: 6, NumHeads: 12,
		MaxPositions: 512, HiddenAct: "gelu", LayerNormEps: 1e-12, HiddenDropout: 0.1, AttentionDropout: 0.1,
		ClassifierDropout: new(0.2)},
	pooled: layers.ReLU,
	heads: map[string]*head{
		"classifier": {architecture: "DistilBertForSequenceClassification", weight: "classifier.weight",
			refuses: "problem_type"},
		"cross-encoder":    {architecture: "DistilBertForSequenceClassification", weight: "classifier.weight"},
		"token classifier": {architecture: "DistilBertForTokenClassification", weight: "classifier.weight"},
		"masked LM": {architecture: "DistilBertForMaskedLM", weight: "vocab_projector.bias",
			refuses: "tie_word_embeddings",
			tied:    map[string]string{"vocab_projector.weight": "embeddings.word_embeddings.weight"}},
	},
	weights: names{renamed: []rename{
		{ours: "encoder.layer.*.attention.self.query", theirs: "transformer.layer.*.attention.q_lin"},
		{ours: "encoder.layer.*.attention.self.key", theirs: "transformer.layer.*.attention.k_lin"},
		{ours: "encoder.layer.*.attention.self.value", theirs: "transformer.layer.*.attention.v_lin"},
		{ours: "encoder.layer.*.attention.output.dense", theirs: "transformer.layer.*.attention.out_lin"},
		{ours: "encoder.layer.*.attention.output.LayerNorm", theirs: "transformer.layer.*.sa_layer_norm"},
		{ours: "encoder.layer.*.intermediate.dense", theirs: "transformer.layer.*.ffn.lin1"},
		{ours: "encoder.layer.*.output.dense", theirs: "transformer.layer.*.ffn.lin2"},
		{ours: "encoder.layer.*.output.LayerNorm", theirs: "transformer.layer.*.output_layer_norm"},
		{ours: "pooler.dense", theirs: "pre_classifier"},
		{ours: "cls.predictions", theirs: "vocab_projector"},
		{ours: "cls.predictions.transform.dense", theirs: "vocab_transform"},
		{ours: "cls.predictions.transform.LayerNorm", theirs: "vocab_layer_norm"},
	}},
}

// encoderFamilies lists all families of encoders.
var encoderFamilies = []*encoderFamily{&bert, &distilBERT}

// encoderFamilyOf returns the family of a model_type.
func encoderFamilyOf(modelType string) (*encoderFamily, error) {
	var all []string
	for _, f := range encoderFamilies {
		if f.name == modelType {
			return f, nil
		}
		all = append(all, f.name)
	}
	return nil, fmt.Errorf("model_type: got %.60q: %w, want one of %s", modelType, ErrFamily, strings.Join(all, ", "))
}

// parse returns the config of the encoder that a config.json describes.
func (f *encoderFamily) parse(contents []byte) (layers.EncoderConfig, error) {
	if err := checkRefused(contents, alwaysRefused+f.refuses); err != nil {
		return layers.EncoderConfig{}, err
	}
	s, err := f.settings(contents)
	if err != nil {
		return layers.EncoderConfig{}, err
	}
	c, err := s.encoder()
	return c, config.JSON(err)
}

// settings returns the keys of a config.json.
func (f *encoderFamily) settings(contents []byte) (encoderSettings, error) {
	own := members(contents)
	for key, theirs := range f.keys {
		delete(own, key)
		if value, ok := own[theirs]; ok {
			own[key] = value
		}
	}
	s := f.absent
	text, err := json.Marshal(own)
	if err == nil {
		err = config.Foreign.Decode(text, &s)
	}
	return s, err
}

// encoder returns the config of the encoder that settings describe.
func (s encoderSettings) encoder() (c layers.EncoderConfig, err error) {
	a := activations[s.HiddenAct][0]
	if a == "" {
		return c, config.Errorf(s, "HiddenAct", "got %.60q, want one known here, such as gelu or relu", s.HiddenAct)
	}
	c = layers.EncoderConfig{VocabSize: s.VocabSize, ContextLength: s.MaxPositions, TypeVocabSize: s.TypeVocabSize,
		NumLayers: s.NumHiddenLayers, EmbeddingDropout: s.HiddenDropout}
	c.Block = layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: s.HiddenSize, NumHeads: s.NumHeads, QKVBias: true, OutBias: true,
			Dropout: s.AttentionDropout, OutDropout: s.HiddenDropout},
		MLP:  layers.MLPConfig{DimFeedforward: s.IntermediateSize, Activation: a, Bias: true, Dropout: s.HiddenDropout},
		Norm: layers.NormConfig{Bias: true, Eps: s.LayerNormEps},
	}
	return c, config.From(s, c.Validate(), encoderFields)
}

// encoderFields maps the fields of a layers.EncoderConfig to fields of settings.
var encoderFields = map[string]string{"VocabSize": "VocabSize", "ContextLength": "MaxPositions",
	"TypeVocabSize": "TypeVocabSize", "NumLayers": "NumHiddenLayers", "EmbeddingDropout": "HiddenDropout",
	"Block.Attention.EmbedDim": "HiddenSize", "Block.Attention.OutDim": "HiddenSize", "Block.Attention.NumHeads": "NumHeads",
	"Block.Attention.Dropout": "AttentionDropout", "Block.MLP.DimFeedforward": "IntermediateSize",
	"Block.Norm.Eps": "LayerNormEps"}
