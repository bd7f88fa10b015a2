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
	sentencePieceName   = "tokenizer.model" // which it does not read
)

// object is a JSON object.
type object map[string]any

// tokenizerFiles returns the contents of the files of Hugging Face's libraries for the tokenizer, by their names;
// GPT-2's are there with the model, which takes their vocabulary without them.
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
	if t, ok := of.(*text.BPETokenizer); ok {
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
