package pretrained

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"attention/graph"
	"attention/internal/folder"
	"attention/internal/gguf"
	"attention/internal/mapped"
)

// GGUFType is the format of matrices in a GGUF file: f32, f16, bf16 or q8_0.
type GGUFType = gguf.Type

// GGUFTypes returns all types, the most exact first.
func GGUFTypes() []GGUFType { return gguf.Types() }

// WriteGGUF writes the model with its tokenizer to a file for llama.cpp and the programs that read its files. If there
// is a file at path, it is replaced once the new one is whole.
//
// Matrices have the type t, or F16 in place of Q8_0 if their rows do not divide into its blocks of 32; vectors and the
// table of positions are F32. llama.cpp computes every GELU by the approximation with tanh, from a table in half
// precision, even for a model with the exact GELU: log-probabilities differ by about 1e-3. If a model has windows and
// llama.cpp's form of its family has none, the file limits the sequence length to the window: up to this length windows
// hide nothing. The scale of Gemma's embeddings is not rounded to the folder's type there.
//
// The error about a model that the format cannot represent names the reason.
func (g *GPT) WriteGGUF(path string, t GGUFType) error {
	f, err := g.gguf(strings.TrimSuffix(filepath.Base(path), ".gguf"), t)
	return g.writeGGUF(path, f, err)
}

// writeGGUF writes a file, unless err is set, and returns an error that names the path.
func (g *GPT) writeGGUF(path string, f *gguf.File, err error) error {
	if err == nil {
		err = folder.WriteFile(path, func(w io.Writer) error {
			return mapped.Guard(func() error { return gguf.Write(writer{w, g.ctx}, f) })
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
	m, err := ggufModelOf(g.Model.Config(), g.origin)
	if err != nil {
		return nil, err
	}
	v, err := g.ggufVocabulary()
	if err != nil {
		return nil, err
	}
	all := []gguf.Setting{
		{Key: "general.architecture", Value: m.name},
		{Key: "general.type", Value: "model"},
		{Key: "general.name", Value: strings.ToValidUTF8(name, "?")},
		{Key: "general.file_type", Value: t.FileType()},
		{Key: "general.quantization_version", Value: uint32(2)},
	}
	all = append(append(all, m.settings()...), v.settings()...)
	tensors, err := m.tensors(g.Params, t)
	return &gguf.File{Settings: all, Tensors: tensors}, err
}

// base returns the base of rotary positions, which is all that NTKScaling changes.
func base(r *graph.RoPEConfig) float64 {
	b, dims := r.Base, float64(r.Dims)
	if r.Scaling == graph.NTKScaling {
		b *= math.Pow(r.Factor, dims/(dims-2))
	}
	return b
}
