package pretrained

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"attention/internal/folder"
	"attention/internal/gguf"
	"attention/internal/mapped"
	"attention/layers"
)

// GGUFType is how a GGUF file has the matrices: f32, f16, bf16 or q8_0.
type GGUFType = gguf.Type

// GGUFTypes returns all types, the most exact first.
func GGUFTypes() []GGUFType { return gguf.Types() }

// WriteGGUF writes the model with its tokenizer to a file for llama.cpp and the programs that read its files. If there
// is a file at path, it is replaced once the new one is whole.
//
// Matrices have the type t, but F16 in place of Q8_0 where rows do not divide into its blocks of 32; vectors and
// the table of positions are F32. llama.cpp's GPT-2 always has biases, so a model without them gets zeros. Its
// GELU is the approximation with tanh, from a table in half precision, for models with the exact one too: scores
// differ by some 1e-3.
//
// What the format cannot say is an error: another activation, or no tokenizer.
func (g *GPT) WriteGGUF(path string, t GGUFType) error {
	f, err := g.gguf(strings.TrimSuffix(filepath.Base(path), ".gguf"), t)
	if err == nil {
		err = folder.WriteFile(path, func(w io.Writer) error {
			return mapped.Guard(func() error { return gguf.Write(w, f) })
		})
	}
	if err != nil {
		return fmt.Errorf("pretrained: %s: %w", path, folder.WithoutPath(err))
	}
	return nil
}

// gguf returns the file's content.
func (g *GPT) gguf(name string, t GGUFType) (*gguf.File, error) {
	if g.Model == nil || g.Params == nil {
		return nil, errors.New("got a GPT without a Model or Params, want both")
	}
	c, ok := g.Model.Config().GPT()
	if !ok {
		return nil, errors.New("got a decoder that is no GPT, want one")
	}
	switch c.Activation {
	case "gelu_new", "gelu_pytorch_tanh", "gelu", "":
	default:
		return nil, fmt.Errorf("activation_function: got %s, want gelu_new or gelu, as llama.cpp's GPT-2 has it", c.Activation)
	}
	v, err := g.ggufVocabulary()
	if err != nil {
		return nil, err
	}
	return &gguf.File{Settings: append(ggufSettings(name, c, t), v.settings()...), Tensors: g.ggufTensors(t)}, nil
}

// ggufSettings returns the settings of the model.
func ggufSettings(name string, c layers.GPTConfig, t GGUFType) []gguf.Setting {
	return []gguf.Setting{
		{Key: "general.architecture", Value: "gpt2"},
		{Key: "general.type", Value: "model"},
		{Key: "general.name", Value: strings.ToValidUTF8(name, "?")},
		{Key: "general.file_type", Value: t.FileType()},
		{Key: "general.quantization_version", Value: uint32(2)},
		{Key: "gpt2.context_length", Value: uint32(c.ContextLength)},
		{Key: "gpt2.embedding_length", Value: uint32(c.EmbedDim)},
		{Key: "gpt2.block_count", Value: uint32(c.NumLayers)},
		{Key: "gpt2.feed_forward_length", Value: uint32(cmp.Or(c.DimFeedforward, 4*c.EmbedDim))},
		{Key: "gpt2.attention.head_count", Value: uint32(c.NumHeads)},
		{Key: "gpt2.attention.head_count_kv", Value: uint32(cmp.Or(c.NumKVHeads, c.NumHeads))},
		{Key: "gpt2.attention.layer_norm_epsilon", Value: float32(cmp.Or(c.Eps, 1e-5))},
	}
}
