package pretrained

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/gguf"
	"attention/layers"

	"gorgonia.org/tensor"
)

// ggufNames maps the parts of a decoder to llama.cpp's names; those of a block follow "blk.N.".
var ggufNames = map[string]string{
	"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm",
	"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
	"ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",

	"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
	"input_layernorm": "attn_norm", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
	"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
	"self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
	"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",

	"sandwich.post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
	"post_feedforward_layernorm": "post_ffw_norm",
}

var inBlock = regexp.MustCompile(`^(?:transformer\.h|model\.layers)\.([0-9]+)\.`)

// ggufName returns llama.cpp's name of a parameter, "" if it has none.
func (m *ggufModel) ggufName(name string) string {
	block := ""
	if of := inBlock.FindStringSubmatch(name); of != nil {
		name, block = name[len(of[0]):], "blk."+of[1]+"."
	}
	dot := max(strings.LastIndexByte(name, '.'), 0)
	part, kind := name[:dot], name[dot:]
	to := ggufNames[part]
	if to == "" || kind != ".weight" && kind != ".bias" {
		return ""
	}
	if m.kind.NormPlacement != layers.PreNorm {
		to = cmp.Or(ggufNames["sandwich."+part], to)
	}
	if m.packed && to == "attn_q" {
		to = "attn_qkv"
	}
	return block + to + kind
}

// tensors returns the tensors of a file, which read the parameters as they are written.
func (m *ggufModel) tensors(p *layers.Params, t GGUFType) (all []gguf.Tensor, err error) {
	m.shapes = maps.Collect(p.Shapes())
	for name := range p.All() {
		if p.IsAdapter(name) { // merged into the adapter's weight
			continue
		}
		if m.ggufName(name) == "" {
			return nil, fmt.Errorf("parameter %s: llama.cpp's form %s has none of this kind", name, m.name)
		}
		if m.isPart(name) {
			continue
		}
		to := m.tensor(p, name, t)
		all = append(all, to)
		if bias, missing := m.missingBias(p, name, to.Name); missing {
			all = append(all, constant(m.ggufName(bias), to.Shape[0], func(int) float64 { return 0 }))
		}
		if m.head && m.TieWordEmbeddings && to.Name == "token_embd.weight" {
			to.Name = "output.weight"
			all = append(all, to)
		}
	}
	if r := m.global; r != nil && r.Scaling == graph.Llama3Scaling {
		all = append(all, constant("rope_freqs.weight", r.Dims/2, llama3Factors(*r)))
	}
	return all, nil
}

// missingBias returns the name of a parameter's bias, and whether the file has this bias although the model does not.
func (m *ggufModel) missingBias(p *layers.Params, name, to string) (bias string, missing bool) {
	stem, isWeight := strings.CutSuffix(name, "weight")
	bias = stem + "bias"
	_, has := p.Get(bias)
	product := !strings.Contains(to, "_embd.") && to != "output.weight"
	return bias, m.biases == allBiases && isWeight && product && !has
}

// constant returns a vector of the values of a function.
func constant(name string, n int, of func(i int) float64) gguf.Tensor {
	return gguf.Tensor{Name: name, Shape: []int{n}, Type: gguf.F32, Fill: func(all []float32) error {
		for i := range all {
			all[i] = float32(of(i))
		}
		return nil
	}}
}

// llama3Factors returns the divisor of each pair's frequency.
func llama3Factors(r graph.RoPEConfig) func(pair int) float64 {
	low, high := cmp.Or(r.LowFreqFactor, 1), cmp.Or(r.HighFreqFactor, 4)
	return func(pair int) float64 {
		frequency := math.Pow(r.Base, -2*float64(pair)/float64(r.Dims))
		turns := float64(r.OriginalLength) * frequency / (2 * math.Pi)
		kept := min(max((turns-low)/(high-low), 0), 1)
		return 1 / ((1-kept)/r.Factor + kept)
	}
}

// isPart reports whether a parameter follows another parameter in the same tensor of the file.
func (m *ggufModel) isPart(name string) bool {
	return m.packed && (strings.Contains(name, ".k_proj.") || strings.Contains(name, ".v_proj."))
}

// parts returns the names of the parameters in the tensor of which name is the first.
func (m *ggufModel) parts(name string) []string {
	if !m.packed || !strings.Contains(name, ".q_proj.") {
		return []string{name}
	}
	return []string{name, strings.Replace(name, ".q_proj.", ".k_proj.", 1), strings.Replace(name, ".q_proj.", ".v_proj.", 1)}
}

// rows returns a function that maps a row of one of a tensor's parameters to the row of the tensor.
func (m *ggufModel) rows(name string) func(part, row int) int {
	var before []int
	all := 0
	for _, part := range m.parts(name) {
		before, all = append(before, all), all+m.shapes[part][0]
	}
	heads := m.headsOf(m.ggufName(name))
	return func(part, row int) int {
		if row += before[part]; heads > 0 {
			return pairedRow(row, all/heads)
		}
		return row
	}
}

// shape returns the shape of the tensor of a parameter, and whether it is the transpose of the parameter.
func (m *ggufModel) shape(name string) (shape tensor.Shape, transposed bool) {
	shape = m.shapes[name].Clone()
	for _, part := range m.parts(name)[1:] {
		shape[0] += m.shapes[part][0]
	}
	if transposed = m.family == &gpt2 && isLinear(name); transposed {
		shape[0], shape[1] = shape[1], shape[0]
	}
	return shape, transposed
}

// plus returns the number that is added to a parameter in the file: for norms with an offset the file has the complete
// factors.
func (m *ggufModel) plus(name string) float32 {
	if m.kind.Norm.UnitOffset && strings.Contains(name, "norm.") {
		return 1
	}
	return 0
}

// tensor returns a parameter in the file's form.
func (m *ggufModel) tensor(p *layers.Params, name string, t GGUFType) gguf.Tensor {
	parts, rowOf := m.parts(name), m.rows(name)
	shape, transposed := m.shape(name)
	to := gguf.Tensor{Name: m.ggufName(name), Shape: shape}
	to.Type = ggufType(to.Name, shape, t)
	plus := m.plus(to.Name)
	to.Fill = func(all []float32) error {
		for i, part := range parts {
			v, _ := p.Merged(part)
			width, size := 1, v.Shape().TotalSize()
			if v.Dims() > 1 {
				width = v.Shape()[1]
			}
			for row := range size / width {
				elements := dense.Float32s(v, row*width, (row+1)*width)
				if transposed {
					for i, x := range elements {
						all[i*shape[1]+row] = x
					}
					continue
				}
				copy(all[rowOf(i, row)*width:], elements)
			}
		}
		for i := range all {
			all[i] += plus
		}
		return nil
	}
	return to
}

// headsOf returns the number of heads of a tensor whose rows have another order in the file; 0 if the order is the
// same.
func (m *ggufModel) headsOf(name string) int {
	a := m.kind.Attention
	switch {
	case !m.pairs || m.global == nil || m.global.Interleaved:
	case strings.Contains(name, ".attn_q."):
		return a.NumHeads
	case strings.Contains(name, ".attn_k."):
		return a.NumKVHeads
	}
	return 0
}

// pairedRow returns the new position of a row of heads: in each head, the rows i and i + D/2 of a pair become 2i and 2i
// + 1.
func pairedRow(row, headDim int) int {
	i := row % headDim
	return row - i + 2*(i%(headDim/2)) + i/(headDim/2)
}

// ggufType returns the type of a tensor in a file whose matrices have type t.
func ggufType(name string, shape tensor.Shape, t GGUFType) GGUFType {
	switch {
	case len(shape) == 1 || name == "position_embd.weight":
		return gguf.F32
	case t == gguf.Q8 && !t.Fits(shape[1]):
		return gguf.F16
	}
	return t
}
