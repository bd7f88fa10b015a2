package pretrained

import (
	"encoding/json"
	"maps"

	"attention/train/text"
)

// The files of a tokenizer for transformers, whose AutoTokenizer reads both.
const (
	tokenizerName       = "tokenizer.json"
	tokenizerConfigName = "tokenizer_config.json"
	sentencePieceName   = "tokenizer.model" // which it does not read
)

// object is a JSON object.
type object map[string]any

// tokenizerFiles returns the model's tokenizer in the form of Hugging Face's tokenizers, by the names of the files: one
// of characters or bytes in theirs, and of a file that file. Of GPT-2's tokenizer, which transformers has, and of none
// there are no files.
func (g *GPT) tokenizerFiles() (map[string][]byte, error) {
	config := object{"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": g.Model.Config().ContextLength,
		"clean_up_tokenization_spaces": false}
	contents, files := map[string]object{tokenizerConfigName: config}, map[string][]byte{}
	switch t := g.Tokenizer.(type) {
	case *text.Vocabulary:
		contents[tokenizerName] = charactersJSON([]rune(t.Characters()))
	case text.ByteTokenizer:
		contents[tokenizerName] = bytesJSON()
	case *text.BPETokenizer:
		if maps.Copy(files, t.Files()); len(files) == 0 { // GPT-2's own
			return nil, nil
		}
		if around := t.WithTemplate([]int{-1}); around[0] >= 0 {
			config["bos_token"] = t.Token(around[0])
		}
		if token := t.Token(g.EndOfText); token != "" {
			config["eos_token"] = token
		}
	default:
		return nil, nil
	}
	for name, content := range contents {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return nil, err
		}
		files[name] = append(text, '\n')
	}
	return files, nil
}

// charactersJSON returns a tokenizer that cuts between all characters. A word of its model is a character. Another
// character than these is an error, since the word for unknown ones is not there.
func charactersJSON(characters []rune) object {
	ids := map[string]int{}
	for id, r := range characters {
		ids[string(r)] = id
	}
	return tokenizerJSON(
		object{"type": "Split", "pattern": object{"Regex": `[\s\S]`}, "behavior": "Isolated", "invert": false},
		object{"type": "WordLevel", "vocab": ids, "unk_token": "[UNK]"},
		object{"type": "Fuse"})
}

// bytesJSON returns a tokenizer of bytes: byte-pair encoding without pairs.
func bytesJSON() object {
	ids := map[string]int{}
	for id, letter := range byteLetters() {
		ids[string(letter)] = id
	}
	level := object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}
	return tokenizerJSON(level, object{"type": "BPE", "vocab": ids, "merges": []string{}, "dropout": nil,
		"unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil, "fuse_unk": false,
		"byte_fallback": false}, level)
}

func tokenizerJSON(cuts, model, joins object) object {
	return object{"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []any{}, "normalizer": nil,
		"pre_tokenizer": cuts, "post_processor": nil, "decoder": joins, "model": model}
}
