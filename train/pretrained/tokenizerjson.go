package pretrained

import (
	"encoding/json"
	"maps"

	"attention/train/text"
)

// The names of files of tokenizers in Hugging Face's libraries.
const (
	tokenizerName       = "tokenizer.json"
	tokenizerConfigName = "tokenizer_config.json"
	sentencePieceName   = "tokenizer.model" // transformers does not read this one
)

// object is a JSON object.
type object map[string]any

// tokenizerFiles returns the contents of the tokenizer's files for Hugging Face's libraries, by file name. For GPT-2's
// tokenizer it returns none: the libraries have its vocabulary.
func (g *GPT) tokenizerFiles() (map[string][]byte, error) {
	of, ok := g.Tokenizer.(interface{ Files() map[string][]byte })
	if !ok {
		return nil, nil
	}
	files := maps.Clone(of.Files())
	if len(files) == 0 { // GPT-2's own
		return nil, nil
	}
	config := object{"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": g.Model.Config().ContextLength,
		"clean_up_tokenization_spaces": false}
	if t, ok := of.(*text.SubwordTokenizer); ok {
		if around := t.WithTemplate([]int{-1}); around[0] >= 0 {
			config["bos_token"] = t.Token(around[0])
		}
		if token := t.Token(g.EndOfText); token != "" {
			config["eos_token"] = token
		}
	}
	text, err := json.MarshalIndent(config, "", "  ")
	files[tokenizerConfigName] = append(text, '\n')
	return files, err
}
