package pretrained

import (
	"io"
	"path/filepath"
	"slices"

	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/layers"
)

// generationName is the file with the defaults of transformers' generate.
const generationName = "generation_config.json"

// chatTemplateName is the file of the template of conversations.
const chatTemplateName = "chat_template.jinja"

// copiedNames are the files beside a model that are written unchanged.
var copiedNames = []string{tokenizerName, tokenizerConfigName, "special_tokens_map.json", "added_tokens.json",
	"vocab.json", "merges.txt", sentencePieceName, chatTemplateName, "chat_template.json", generationName}

// origin holds the parts of a model's folder that are written unchanged.
type origin struct {
	dir     string // "" for a GGUF file
	family  *family
	config  []byte // of config.json
	decoder layers.DecoderConfig
	tensors map[string]safetensors.Tensor // tensors without data, by their names in the family
}

// origin returns the parts of the folder that are written unchanged. It returns nil for a GPT in one of our own forms:
// for plain PyTorch, with its tokenizer in config.json, or with fewer biases than GPT-2.
func (f *Folder) origin(w *weights) *origin {
	c := f.config
	if c.family == &gpt2 && (c.Format == Torch || c.Vocabulary != nil || !c.gpt.Bias || c.gpt.QKVBias != nil) {
		return nil
	}
	o := &origin{dir: f.dir, family: f.config.family, config: f.contents, decoder: f.config.decoder,
		tensors: map[string]safetensors.Tensor{}}
	for name, t := range w.tensors {
		o.tensors[name] = t.Tensor
	}
	return o
}

// files returns the names of the files beside the model; none if there is no folder.
func (o *origin) files() []string {
	if o == nil || o.dir == "" {
		return nil
	}
	all, _ := folder.Names(o.dir)
	return slices.DeleteFunc(slices.Clone(copiedNames), func(name string) bool { return !slices.Contains(all, name) })
}

// copyOf returns a function that copies a file of a folder.
func copyOf(dir, name string) func(io.Writer) error {
	return func(w io.Writer) error {
		f, err := folder.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		return oneline.Join(err, f.Close())
	}
}
