package pretrained

import (
	"regexp"
	"strings"

	"attention/internal/dense"
	"attention/internal/gguf"

	"gorgonia.org/tensor"
)

// ggufNames has llama.cpp's names of the parts of models, those of a block after "blk.N.".
var ggufNames = map[string]string{
	"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm", "lm_head": "output",
	"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
	"ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
}

var inBlock = regexp.MustCompile(`^transformer\.h\.([0-9]+)\.`)

// ggufName returns llama.cpp's name of a parameter.
func ggufName(name string) string {
	block := ""
	if m := inBlock.FindStringSubmatch(name); m != nil {
		name, block = name[len(m[0]):], "blk."+m[1]+"."
	}
	dot := strings.LastIndexByte(name, '.')
	return block + ggufNames[name[:dot]] + name[dot:]
}

// ggufTensors returns the tensors of a file, which read the parameters as they are written.
func (g *GPT) ggufTensors(t GGUFType) []gguf.Tensor {
	var all []gguf.Tensor
	for name, value := range g.Params.All() {
		shape := value.Shape().Clone()
		rows := shape.TotalSize() / shape[len(shape)-1]
		width := shape[len(shape)-1] // of the output of a linear layer, and of a norm
		if isLinear(name) {
			shape[0], shape[1] = shape[1], shape[0]
		}
		to := gguf.Tensor{Name: ggufName(name), Shape: shape, Type: ggufType(ggufName(name), shape, t)}
		to.Floats = func() ([]float32, error) {
			data := dense.Float32s(value, 0, rows*width)
			if !isLinear(name) {
				return data, nil
			}
			transposed := make([]float32, len(data))
			transpose(transposed, data, width)
			return transposed, nil
		}
		all = append(all, to)
		bias := strings.TrimSuffix(name, "weight") + "bias"
		if _, has := g.Params.Get(bias); !has && (isLinear(name) || isNorm(name)) {
			all = append(all, gguf.Tensor{Name: ggufName(bias), Shape: []int{width}, Type: gguf.F32,
				Floats: func() ([]float32, error) { return make([]float32, width), nil }})
		}
	}
	return all
}

// ggufType returns the type of a tensor in a file whose matrices are of type t.
func ggufType(name string, shape tensor.Shape, t GGUFType) GGUFType {
	switch {
	case len(shape) == 1 || name == "position_embd.weight":
		return gguf.F32
	case t == gguf.Q8 && !t.Fits(shape[1]):
		return gguf.F16
	}
	return t
}
