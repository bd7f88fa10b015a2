package pretrained

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"attention/internal/folder"
	"attention/train/text"
)

// bertTokenizers are the tokenizer classes of transformers that have BERT's flags; "" means BERT's own.
var bertTokenizers = []string{"", "BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast"}

// openBERTTokenizer reads the tokenizer of a folder. Its BertNormalizer has the flags of tokenizer_config.json, or else
// their defaults, whatever tokenizer.json says, as in transformers' classes for BERT.
//
// If lowercase is set, all of a text except its added tokens becomes lower case first, as in sentence-transformers.
func openBERTTokenizer(dir string, lowercase bool) (*text.SubwordTokenizer, error) {
	c := struct {
		Class     string `json:"tokenizer_class"`
		Lowercase bool   `json:"do_lower_case"`
		Accents   *bool  `json:"strip_accents"`
		Chinese   bool   `json:"tokenize_chinese_chars"`
	}{Lowercase: true, Chinese: true}
	if _, err := readJSON(dir, tokenizerConfigName, &c); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, tokenizerName)
	contents, err := folder.ReadFile(path, folder.MaxVocabulary)
	if err != nil {
		return nil, err
	}
	all := members(contents)
	normalizer, changed := members(all["normalizer"]), false
	if string(normalizer["type"]) == `"BertNormalizer"` && slices.Contains(bertTokenizers, c.Class) {
		for key, flag := range map[string]any{"lowercase": c.Lowercase, "strip_accents": c.Accents,
			"handle_chinese_chars": c.Chinese} {
			value, err := json.Marshal(flag)
			if err != nil {
				return nil, err
			}
			changed = changed || string(normalizer[key]) != string(value)
			normalizer[key] = value
		}
		if all["normalizer"], err = json.Marshal(normalizer); err != nil {
			return nil, err
		}
	}
	if lowercase {
		parts := []any{map[string]string{"type": "Lowercase"}}
		if normalizer["type"] != nil {
			parts = append(parts, all["normalizer"])
		}
		all["normalizer"], err = json.Marshal(map[string]any{"type": "Sequence", "normalizers": parts})
		if changed = true; err != nil {
			return nil, err
		}
	}
	if changed {
		if contents, err = json.Marshal(all); err != nil {
			return nil, err
		}
	}
	t, err := text.ReadTokenizer(contents)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
