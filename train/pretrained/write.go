package pretrained

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/safetensors"
)

// modelName is the Python file of the format Torch, for import or changes.
const modelName = "model.py"

//go:embed model.py
var modelPy []byte

// Write writes the model to a folder, which must be new or empty, and returns the names
// of the files it made. ReadGPT reads the same parameters from it, bit for bit.
//
// HuggingFace is for transformers (GPT2LMHeadModel.from_pretrained). Its GPT-2 always
// has biases, so a model without them gets zeros; it has as many key/value heads as
// query heads, so a model with fewer is an error. A tokenizer of characters or bytes is written for AutoTokenizer
// (tokenizer.json, tokenizer_config.json); GPT-2's is not, which transformers has.
//
// Torch has the names of HuggingFace, but the weights of linear layers are (out, in),
// as in nn.Linear, and there are no extra tensors. Its model.py reads the folder, runs
// the model and writes the folder after more training.
func (g *GPT) Write(dir string, f Format) ([]string, error) {
	files, err := g.write(dir, f)
	if err != nil {
		return nil, fmt.Errorf("pretrained: %s: %w", dir, err)
	}
	return files, nil
}

func (g *GPT) write(dir string, f Format) ([]string, error) {
	if g.Model == nil || g.Params == nil {
		return nil, errors.New("got a GPT without a Model or Params, want both")
	}
	c, ok := g.Model.Config().GPT()
	switch {
	case !ok:
		return nil, errors.New("got a decoder that is no GPT, want one")
	case !slices.Contains(Formats(), f):
		return nil, fmt.Errorf("format: got %q, want one of %v", f, Formats())
	case f == HuggingFace && c.NumKVHeads > 0 && c.NumKVHeads != c.NumHeads:
		return nil, fmt.Errorf("n_kv_head: got %d with n_head %d, want as many: "+
			"transformers' GPT-2 has no fewer; format %s has", c.NumKVHeads, c.NumHeads, Torch)
	}
	fields, err := g.config(f)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return nil, err
	}
	out, err := emptyFolder(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{configName: append(text, '\n')}
	if err := g.addFiles(files, f); err != nil {
		return nil, oneline.Join(err, out.Close())
	}
	names, err := g.writeFiles(out, f, files)
	return names, oneline.Join(err, out.Close())
}

// addFiles adds the files of a format beside config.json and the weights.
func (g *GPT) addFiles(files map[string][]byte, f Format) error {
	if f == Torch {
		files[modelName] = modelPy
		return nil
	}
	tokenizer, err := tokenizerFiles(g.Tokenizer, g.Model.Config().ContextLength)
	maps.Copy(files, tokenizer)
	return err
}

// writeFiles writes the weights and other files of a model and returns their names. After an error the folder is empty,
// for another try.
func (g *GPT) writeFiles(out *folder.Dir, f Format, files map[string][]byte) ([]string, error) {
	others := slices.Sorted(maps.Keys(files))
	others = slices.DeleteFunc(others, func(name string) bool { return name == configName })
	names := append([]string{configName, weightsName}, others...)
	if err := g.fill(out, f, files, others); err != nil {
		for _, name := range names {
			_ = out.Remove(name)
		}
		return nil, err
	}
	return names, nil
}

// fill writes the files. config.json comes last: a folder without it is not a model.
func (g *GPT) fill(out *folder.Dir, f Format, files map[string][]byte, others []string) error {
	weights := &safetensors.File{Metadata: map[string]string{"format": "pt"}, Tensors: g.tensors(f)}
	if err := out.Write(weightsName, func(w io.Writer) error { return safetensors.Write(w, weights) }); err != nil {
		return err
	}
	for _, name := range others {
		if err := out.Write(name, writes(files[name])); err != nil {
			return err
		}
	}
	return out.Write(configName, writes(files[configName]))
}

// writes returns a function that writes content.
func writes(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// emptyFolder makes the folder, or returns an error if it exists and is not empty.
func emptyFolder(path string) (*folder.Dir, error) {
	dir, err := folder.Make(path)
	if err != nil {
		return nil, err
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

// config returns the fields of config.json with all defaults: a GPTConfig's and more.
func (g *GPT) config(f Format) (map[string]any, error) {
	c, _ := g.Model.Config().GPT()
	c.Eps = cmp.Or(c.Eps, 1e-5)
	if f == HuggingFace {
		c.NumKVHeads = 0 // as many as query heads
		c.Bias = c.Bias || c.QKVBias != nil && *c.QKVBias
		c.QKVBias, c.Initializer = nil, ""
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"n_inner": nil, "bos_token_id": nil, "eos_token_id": nil}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if g.EndOfText >= 0 {
		fields["bos_token_id"], fields["eos_token_id"] = g.EndOfText, g.EndOfText
	}
	if g.Tokenizer != nil {
		fields["vocabulary"] = g.Tokenizer.Config()
	}
	if f == Torch {
		fields["format"] = Torch
		return fields, nil
	}
	fields["model_type"], fields["architectures"] = "gpt2", []string{"GPT2LMHeadModel"}
	fields["torch_dtype"], fields["scale_attn_weights"] = g.Dtype().String(), true
	return fields, nil
}

// tensors returns the parameters in the form of the format.
func (g *GPT) tensors(f Format) []safetensors.Tensor {
	return dense.ByType(g.Dtype(), tensors[float32], tensors[float64])(g, f)
}

func tensors[F float32 | float64](g *GPT, f Format) []safetensors.Tensor {
	var all []safetensors.Tensor
	c, _ := g.Model.Config().GPT()
	for name, value := range g.Params.All() {
		data, shape := dense.Floats[F](value), slices.Clone(value.Shape())
		width := shape[len(shape)-1]
		if f == Torch && isLinear(name) {
			slices.Reverse(shape)
			src := data
			data = make([]F, len(src))
			transpose(data, src, width)
		}
		all = append(all, safetensors.Tensor{Name: name, Shape: shape, Data: data})
		if has, _ := hasBias(c, name); f == HuggingFace && !has && (isLinear(name) || isNorm(name)) {
			bias := strings.TrimSuffix(name, "weight") + "bias"
			all = append(all, safetensors.Tensor{Name: bias, Shape: []int{width}, Data: make([]F, width)})
		}
	}
	return all
}

// isNorm reports whether a parameter is the weight of a norm.
func isNorm(name string) bool {
	return strings.Contains(name, ".ln_") && strings.HasSuffix(name, ".weight")
}
