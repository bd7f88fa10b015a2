package pretrained_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// A head that does not fit is refused in one line.
func TestEncoderHeadErrors(t *testing.T) {
	for _, row := range []struct{ folder, from, to, want string }{
		{"bert_class", `"id2label"`, `"problem_type": "regression", "id2label"`,
			`problem_type: got "regression", want "single_label_classification": texts have one class each`},
		{"bert_class", `"id2label"`, `"problem_type": "multi_label_classification", "id2label"`,
			`problem_type: got "multi_label_classification", want "single_label_classification"`},
		{"bert_class", `"id2label"`, `"problem_type": "single_label_classification", "id2label"`, ""},
		{"bert_class", `"0": "bad",`, ``, "id2label: got 2 labels, want the 3 of the weights"},
		{"bert_class", `"0": "bad",`, `"7": "bad",`, "id2label: got no 0, want 0 to 2"},
		{"bert_class", `"classifier_dropout": null`, `"classifier_dropout": 1.5`, "classifier_dropout: got 1.5, want"},
		{"bert_class", `BertForSequenceClassification`, `BertForTokenClassification`,
			"architectures: got BertForTokenClassification, want BertForSequenceClassification"},
		{"bert_tags", `"BertForTokenClassification"`, `"BertForSequenceClassification"`,
			"architectures: got BertForSequenceClassification, want BertForTokenClassification"},
		{"distilbert_tags", `"0": "LABEL_0",`, ``, "id2label: got 2 labels, want the 3 of the weights"},
		{"distilbert_pair", `linear.Identity`, `activation.Tanh`,
			`activation_fn: got "torch.nn.modules.activation.Tanh", want torch's Sigmoid or Identity`},
		{"bert_pair", `"hidden_act"`, `"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity", "hidden_act"`,
			""},
		{"bert_pair", `"hidden_act"`, `"sbert_ce_default_activation_function": "my.Sigmoid", "hidden_act"`,
			`activation_fn: got "my.Sigmoid"`},
		{"bert_head", `"tie_word_embeddings": true`, `"tie_word_embeddings": false`,
			"tie_word_embeddings: got false, want true: scores of tokens by weights of their own are not supported"},
	} {
		dir := encoderFolder(t, row.folder)
		path := filepath.Join(dir, "config.json")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), row.from, row.want)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), row.from, row.to, 1)), 0o644))
		_, err = headCases[row.folder](dir)
		if row.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, row := range []struct {
		open       string // a case of the function
		folder     string
		from, want string // from is the end of a tensor that gets another name
	}{
		{"bert_class", "bert", "", "weights: got no classifier.weight, want those of BertForSequenceClassification"},
		{"bert_class", "bert_pair", "", "labels: got 1, want at least 2"},
		{"bert_pair", "bert_class", "", "labels: got 3, want one, the score of a pair"},
		{"bert_tags", "bert", "", "weights: got no classifier.weight, want those of BertForTokenClassification"},
		{"bert_tags", "bert_tags", "classifier.bias", "weights: missing classifier.bias"},
		{"bert_head", "bert", "", "weights: got no cls.predictions.bias, want those of BertForMaskedLM"},
		{"bert_head", "distilbert", "", "weights: got no vocab_projector.bias, want those of DistilBertForMaskedLM"},
		{"bert_class", "bert_class", "pooler.dense.bias", "weights: missing pooler.dense.bias"},
		{"bert_class", "bert_class", "classifier.bias", "weights: missing classifier.bias"},
	} {
		dir := encoderFolder(t, row.folder)
		changeTensors(t, dir, func(x *safetensors.Tensor) {
			if row.from != "" && strings.HasSuffix(x.Name, row.from) {
				x.Name = "other"
			}
		})
		_, err := headCases[row.open](dir)
		require.ErrorContains(t, err, row.want)
	}
	e, err := pretrained.OpenEncoder(encoderFolder(t, "bert"))
	require.NoError(t, err)
	require.EqualError(t, e.AddClassifier([]string{"a", "b", "a"}, 1),
		"pretrained: classifier: labels: got one twice, want different ones")
	require.ErrorContains(t, e.AddClassifier([]string{"a"}, 1), "labels: got 1, want at least 2")
	require.NoError(t, e.AddMaskedLM(1))
	require.ErrorContains(t, e.AddClassifier([]string{"a", "b"}, 1), "got an encoder with a head or not from a folder")
}
