package pretrained

import (
	"fmt"
	"strconv"
)

// checkLabels returns an error for a model that classifies texts if other programs have no form for it.
func (t *target) checkLabels() error {
	score, ok := t.Params.Get("score.weight")
	switch {
	case t.Labels == nil:
		return nil
	case !ok || score.Shape()[0] != len(t.Labels):
		return fmt.Errorf("labels: got %d without a score.weight of as many rows, want one", len(t.Labels))
	case t.format == Torch:
		return fmt.Errorf("format: got %q of a model that gives classes, want %q", t.format, HuggingFace)
	case t.family.classifier == "":
		return fmt.Errorf("got a model of %s that gives classes, want one of another family: transformers has no class for it",
			t.family.name)
	}
	return nil
}

// addLabels adds the classes to a config.json if the model classifies texts. Without a padding token, transformers
// reads the class at the last token, which is the token that ends a text.
func (t *target) addLabels(fields map[string]any) {
	if t.Labels != nil {
		fields["architectures"], fields["pad_token_id"] = []string{t.family.classifier}, nil
		fields["problem_type"] = singleLabel
		addLabels(fields, t.Labels)
	}
}

// singleLabel is the problem_type of texts with one class each.
const singleLabel = "single_label_classification"

// addLabels adds the labels of classes to a config.json, unless there are none.
func addLabels(fields map[string]any, labels []string) {
	if labels == nil {
		return
	}
	names, ids := map[string]string{}, map[string]int{}
	for i, label := range labels {
		names[strconv.Itoa(i)], ids[label] = label, i
	}
	fields["id2label"], fields["label2id"] = names, ids
}
