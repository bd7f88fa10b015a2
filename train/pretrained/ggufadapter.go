package pretrained

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"attention/internal/gguf"
	"attention/layers"
)

// WriteGGUFAdapter writes the adapters of the model to a file that llama.cpp applies with --lora to the base's file,
// which WriteGGUF writes. The matrices have the type t, as in WriteGGUF. If parameters are trained whole, or if tied
// token embeddings have an adapter, the result is an error: such a file cannot hold them.
func (g *GPT) WriteGGUFAdapter(path string, t GGUFType) error {
	f, err := g.ggufAdapter(t)
	return g.writeGGUF(path, f, err)
}

// ggufAdapter returns the file's content.
func (g *GPT) ggufAdapter(t GGUFType) (*gguf.File, error) {
	if g.Model == nil || g.Params == nil {
		return nil, errors.New("got a GPT without a Model or Params, want both")
	}
	lora, ok := g.Params.LoRA()
	if !ok {
		return nil, errors.New("got a model without adapters, want one with")
	}
	if g.untied {
		return nil, errors.New("got an adapter of one of two tied embeddings, which llama.cpp's form of adapters cannot " +
			"hold, want the merged model")
	}
	m, err := ggufModelOf(g.Model.Config(), g.origin)
	if err != nil {
		return nil, err
	}
	alpha := lora.Alpha // llama.cpp multiplies by alpha over the rank of each matrix
	if lora.RankStabilized {
		alpha *= math.Sqrt(float64(lora.Rank))
	}
	tensors, err := m.adapters(g.Params, alpha, t)
	return &gguf.File{Tensors: tensors, Settings: []gguf.Setting{
		{Key: "general.architecture", Value: m.name},
		{Key: "general.type", Value: "adapter"},
		{Key: "adapter.type", Value: "lora"},
		{Key: "adapter.lora.alpha", Value: float32(alpha)},
		{Key: "general.file_type", Value: t.FileType()},
		{Key: "general.quantization_version", Value: uint32(2)},
	}}, err
}

// adapters returns the tensors of a file of adapters.
func (m *ggufModel) adapters(p *layers.Params, alpha float64, t GGUFType) (all []gguf.Tensor, err error) {
	m.shapes = maps.Collect(p.Shapes())
	for name := range p.Own() {
		if !p.IsAdapter(name) {
			return nil, fmt.Errorf("parameter %s: got one that is trained whole beside adapters, which llama.cpp's form of "+
				"adapters cannot hold, want the merged model", name)
		}
	}
	for name := range p.Shapes() {
		if p.IsAdapter(name) || m.isPart(name) {
			continue
		}
		to := m.ggufName(name)
		j := joined(p, m.parts(name), m.rows(name))
		switch {
		case j.maps == 0:
			continue
		case to == "":
			return nil, fmt.Errorf("parameter %s: llama.cpp's form %s has none of this kind", name, m.name)
		}
		j = j.scaled(alpha / float64(j.rank))
		if table := to == ggufNames["model.embed_tokens"]+".weight"; table && m.TieWordEmbeddings {
			return nil, fmt.Errorf("parameter %s: got an adapter of token embeddings that are tied to the output head, which "+
				"llama.cpp's form of adapters cannot hold, want the merged model", name)
		} else if table { // llama.cpp reads single rows of it
			turned := make([]float64, len(j.a))
			transpose(turned, j.a, j.in)
			all = append(all, matrix(to+".lora_a", j.out, j.rank, j.b, t), matrix(to+".lora_b", j.in, j.rank, turned, t))
			continue
		}
		all = append(all, matrix(to+".lora_a", j.rank, j.in, j.a, t), matrix(to+".lora_b", j.out, j.rank, j.b, t))
	}
	return all, nil
}

// matrix returns a matrix of numbers.
func matrix(name string, rows, columns int, of []float64, t GGUFType) gguf.Tensor {
	shape := []int{rows, columns}
	return gguf.Tensor{Name: name, Shape: shape, Type: ggufType(name, shape, t), Fill: func(to []float32) error {
		for i, v := range of {
			to[i] = float32(v)
		}
		return nil
	}}
}
