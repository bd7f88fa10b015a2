package pretrained

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"attention/internal/folder"
	"attention/internal/mapped"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/train/text"
)

// modelName is the Python file of the format Torch, for import or changes.
const modelName = "model.py"

//go:embed model.py
var modelPy []byte

// WriteConfig sets how a model is written.
type WriteConfig struct {
	Format Format
	// Dtype is the type of the weights, float32, float64, float16 or bfloat16. Empty means each weight's type in the
	// folder from which the model was read, or else the type of the parameters.
	Dtype string
	// ShardSize limits the bytes of weights in one file, unless a single weight has more; 0 means 5 GB.
	ShardSize int64
}

// Write writes the model to a folder, which must be new or empty, and returns the names
// of the files it made. ReadGPT reads the same parameters from it, bit for bit.
//
// HuggingFace is for transformers (AutoModelForCausalLM.from_pretrained). A model that was read from such a folder is
// written unchanged, with its config.json, its tokenizer and its generation_config.json. Any other model is written as
// a member of the first family that can describe it. transformers' GPT-2 always has biases, so a GPT-2 without them
// gets zeros; it has as many key/value heads as query heads, so a model with fewer is an error. A tokenizer of
// characters or bytes, or of a file, is written for AutoTokenizer (tokenizer.json, tokenizer_config.json); GPT-2's is
// not, which transformers has.
//
// A model with Labels is written for AutoModelForSequenceClassification, if transformers has this class for its family.
// It classifies one text at a time, at the end token that is appended to the text.
//
// Torch, for a GPT only, uses the names of HuggingFace, but the weights of linear layers are (out, in), as in
// nn.Linear, and there are no extra tensors. Its model.py reads the folder, runs the model and writes the folder after
// more training.
func (g *GPT) Write(dir string, c WriteConfig) ([]string, error) {
	files, err := g.write(dir, c)
	if err != nil {
		return nil, fmt.Errorf("pretrained: %s: %w", dir, err)
	}
	return files, nil
}

func (g *GPT) write(dir string, c WriteConfig) ([]string, error) {
	w, err := g.writing(c)
	if err != nil {
		return nil, err
	}
	return w.into(dir, g.ctx)
}

// into writes a folder, which must be new or empty, and returns the names of its files.
func (w *writing) into(dir string, ctx context.Context) ([]string, error) {
	out, err := emptyFolder(dir)
	if err != nil {
		return nil, err
	}
	err = mapped.Guard(func() error { return w.write(ctx, out) })
	if err = oneline.Join(err, out.Close()); err != nil {
		return nil, err
	}
	return w.names(configName), nil
}

// names returns the names of the files, in the reverse order of writing: the config first.
func (w *writing) names(config string) []string {
	names := []string{config}
	for _, f := range w.files[:len(w.files)-1] {
		names = append(names, f.name)
	}
	return names
}

// writing is a folder that is being written. The files get their names when all are complete, config.json last: a
// folder without it is not a model.
type writing struct{ files []file }

// file is a file to be written.
type file struct {
	name string
	fill func(io.Writer) error
}

// add adds a file with a content.
func (w *writing) add(name string, content []byte) {
	w.files = append(w.files, file{name, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	}})
}

// addAll adds files, except those with some names.
func (w *writing) addAll(contents map[string][]byte, except []string) {
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if !slices.Contains(except, name) {
			w.add(name, contents[name])
		}
	}
}

func (w *writing) write(ctx context.Context, out *folder.Dir) error {
	all := make([]folder.File, len(w.files))
	for i, f := range w.files {
		all[i] = folder.File{Name: f.name, Fill: func(to io.Writer) error { return f.fill(writer{to, ctx}) }}
	}
	return out.WriteAll(all...)
}

// writing returns the files of the model.
func (g *GPT) writing(c WriteConfig) (*writing, error) {
	t, err := g.target(c)
	if err != nil {
		return nil, err
	}
	contents, err := t.config()
	if err != nil {
		return nil, err
	}
	w := &writing{}
	if err := w.addWeights(t.tensors(), cmp.Or(c.ShardSize, 5e9)); err != nil {
		return nil, err
	}
	if err := t.addFiles(w); err != nil {
		return nil, err
	}
	w.add(configName, contents)
	return w, nil
}

// target is the form in which a model is written.
type target struct {
	*GPT
	family *family
	format Format
	dtype  string  // "" if each weight keeps its own
	origin *origin // nil unless the model is written as it was read
}

// target returns the form in which a model is written, or an error if the model has no such form.
func (g *GPT) target(c WriteConfig) (t *target, err error) {
	_, known := dtypes[c.Dtype]
	switch {
	case g.Model == nil || g.Params == nil:
		return nil, errors.New("got a GPT without a Model or Params, want both")
	case !slices.Contains(Formats(), c.Format):
		return nil, fmt.Errorf("format: got %q, want one of %v", c.Format, Formats())
	case c.Dtype != "" && !known:
		return nil, fmt.Errorf("dtype: got %.60q, want float32, float16, bfloat16 or float64", c.Dtype)
	case c.ShardSize < 0:
		return nil, fmt.Errorf("shard size: got %d, want at least 1 byte, or 0 for 5 GB", c.ShardSize)
	}
	t = &target{GPT: g, format: c.Format, dtype: c.Dtype}
	config := g.Model.Config()
	if o := g.origin; o != nil && c.Format == HuggingFace && sameModel(o.decoder, config) {
		t.origin = o
	} else if c.Dtype == "" {
		t.dtype = g.Dtype().String()
	}
	gpt, isGPT := config.GPT()
	switch {
	case isGPT && c.Format == HuggingFace && gpt.NumKVHeads > 0 && gpt.NumKVHeads != gpt.NumHeads:
		return nil, fmt.Errorf("n_kv_head: got %d with n_head %d, want as many: "+
			"transformers' GPT-2 has no fewer; format %s has", gpt.NumKVHeads, gpt.NumHeads, Torch)
	case isGPT:
		t.family = &gpt2
	case c.Format == Torch:
		return nil, fmt.Errorf("format: got %q of another model than a GPT-2, want %q", c.Format, HuggingFace)
	case t.origin != nil:
		t.family = t.origin.family
	default:
		t.family, err = familyFor(config, t.dtype)
	}
	if err != nil {
		return nil, err
	}
	return t, t.checkLabels()
}

// addFiles adds the files beside config.json and the weights.
func (t *target) addFiles(w *writing) error {
	if t.format == Torch {
		if t, ok := t.Tokenizer.(*text.SubwordTokenizer); ok {
			w.addAll(t.Files(), nil)
		}
		w.add(modelName, modelPy)
		return nil
	}
	copied := t.origin.files()
	if t.ChatTemplate != "" {
		copied = slices.DeleteFunc(copied, func(name string) bool { return strings.HasPrefix(name, "chat_template.") })
		w.add(chatTemplateName, []byte(t.ChatTemplate))
	}
	for _, name := range copied {
		w.files = append(w.files, file{name, copyOf(t.origin.dir, name)})
	}
	has := slices.Contains(copied, tokenizerName)
	_, ofFile := t.Tokenizer.(*text.SubwordTokenizer)
	switch {
	case has && t.ChatTemplate != "": // named by tokenizer_config.json
	case has, ofFile && t.origin != nil && t.origin.dir != "":
		return nil
	}
	made, err := t.tokenizerFiles()
	w.addAll(made, copied)
	return err
}

// emptyFolder makes the folder, or returns an error if it exists and is not empty.
func emptyFolder(path string) (*folder.Dir, error) {
	dir, err := folder.Make(path)
	if err != nil {
		return nil, err
	}
	err = dir.RemoveIncomplete(func(string) bool { return true }) // left by a killed process
	if err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	names, err := dir.Names()
	if err != nil {
		return nil, oneline.Join(err, dir.Close())
	}
	if len(names) > 0 {
		err = errors.New("got a folder that is not empty, want a new or empty one")
		return nil, oneline.Join(err, dir.Close())
	}
	return dir, nil
}

// typeOf returns the type of a tensor in the folder.
func (t *target) typeOf(name string) safetensors.DType {
	if t.dtype == "" {
		if d := t.origin.tensors[name].DType; d != "" {
			return d
		}
	}
	return dtypes[cmp.Or(t.dtype, t.Dtype().String())]
}
