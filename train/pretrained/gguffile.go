package pretrained

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/internal/gguf"
	"attention/train/text"
)

// ggufFile is a model in a GGUF file that is opened.
type ggufFile struct {
	*gguf.File
	tensors  map[string]gguf.Tensor
	model    *ggufModel
	template string // template of conversations; "" if there is none
}

// maxGGUFLayers is the largest number of layers, as in llama.cpp. A layer needs memory even if the file has no tensor
// for it.
const maxGGUFLayers = 512

// openGGUF opens a model in a file as if it were a folder: its settings are read as a config.json of its family.
func openGGUF(path string) (*Folder, error) {
	file, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	g := &ggufFile{File: file, tensors: map[string]gguf.Tensor{}}
	for _, t := range file.Tensors {
		g.tensors[t.Name] = t
	}
	f := &Folder{dir: path, gguf: g}
	if err := f.parseGGUF(); err != nil {
		return nil, about(path, err)
	}
	return f, nil
}

// parseGGUF reads the settings and the tokenizer.
func (f *Folder) parseGGUF() (err error) {
	of, err := f.gguf.family()
	if err != nil {
		return err
	}
	fields, err := f.gguf.config(of)
	if err != nil {
		return err
	}
	if f.contents, err = jsonOf(fields); err != nil {
		return err
	}
	if f.config, err = parseConfig(f.contents); err != nil {
		return err
	}
	if n := f.config.decoder.NumLayers; n > maxGGUFLayers {
		return fmt.Errorf("%s.block_count: got %d, want at most %d", of.gguf.name, n, maxGGUFLayers)
	}
	if f.gguf.model, err = ggufModelOf(f.config.decoder, &origin{family: of}); err != nil {
		return err
	}
	if err := f.gguf.check(); err != nil {
		return err
	}
	if err := gguf.Get(f.gguf.File, "tokenizer.chat_template", &f.gguf.template); err != nil {
		return err
	}
	switch f.gguf.Value("tokenizer.ggml.model") {
	case nil, "none", "no_vocab":
	case "rwkv":
		f.tokenizer, err = f.config.named(f.dir)
	default:
		var t *text.SubwordTokenizer
		if t, err = text.OpenTokenizer(f.dir); err == nil {
			f.tokenizer = t
		}
	}
	return err
}

// family returns the family to whose form the file belongs.
func (g *ggufFile) family() (*family, error) {
	var name, kind string
	parts := 0
	for _, err := range []error{gguf.Get(g.File, "general.architecture", &name), gguf.Get(g.File, "general.type", &kind),
		gguf.Get(g.File, "split.count", &parts)} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case kind != "" && kind != "model":
		return nil, fmt.Errorf("general.type: got %.60q, want a model", kind)
	case parts > 1:
		return nil, fmt.Errorf("split.count: got one of %d parts of a model, want the model in one file: "+
			"llama-gguf-split --merge makes it", parts)
	}
	var forms []string
	for _, f := range families {
		if f.gguf.name == name {
			return f, nil
		}
		if !slices.Contains(forms, f.gguf.name) {
			forms = append(forms, f.gguf.name)
		}
	}
	return nil, fmt.Errorf("general.architecture: got %.60q: %w, want one of %s", name, ErrFamily, strings.Join(forms, ", "))
}

// vocabulary returns the tokenizer of characters or bytes that WriteGGUF writes as rwkv's.
func (g *ggufFile) vocabulary() (c text.TokenizerConfig, err error) {
	var tokens []string
	if err := gguf.Get(g.File, "tokenizer.ggml.tokens", &tokens); err != nil {
		return c, err
	}
	var all []byte
	for _, token := range tokens {
		if strings.HasPrefix(token, `\xff`) && len(token) > 4 { // a token that no text contains
			break
		}
		all = append(all, unescaped(token)...)
	}
	if len(all) == 256 && all[255] == 255 {
		return text.TokenizerConfig{Name: text.Bytes}, nil
	}
	if c = (text.TokenizerConfig{Name: text.Characters, Characters: string(all)}); c.Validate() != nil {
		err = errors.New("tokenizer.ggml.model: got rwkv's tokens, which are not read, want characters, bytes, gpt2 or llama")
	}
	return c, err
}

// check compares the settings with those that the writer would give the model. A difference is an error: the setting
// would change what the model computes.
func (g *ggufFile) check() error {
	want := map[string]any{}
	for _, s := range g.model.settings() {
		want[s.Key] = s.Value
	}
	for _, s := range g.Settings {
		name, ok := strings.CutPrefix(s.Key, g.model.name+".")
		if !ok || slices.Contains(harmlessGGUF, name) {
			continue
		}
		got, _ := json.Marshal(s.Value) // config did so
		expected, _ := json.Marshal(want[s.Key])
		switch {
		case string(got) == string(expected), string(got) == harmlessValues[name]:
		case want[s.Key] == nil && isNothing(got) && harmlessValues[name] == "":
		case want[s.Key] == nil:
			return fmt.Errorf("%s: got %s, want none: it is not obeyed here, and may change numbers", s.Key,
				short(got))
		default:
			return fmt.Errorf("%s: got %s, want %s", s.Key, short(got), expected)
		}
	}
	return nil
}
