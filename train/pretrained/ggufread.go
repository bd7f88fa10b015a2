package pretrained

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/gguf"
	"attention/internal/mapped"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// readGGUF reads the model of a file.
func (f *Folder) readGGUF() (*GPT, error) {
	c := f.config
	p := layers.NewStoredParams(tensor.Float32)
	g := &GPT{Params: p, Tokenizer: f.tokenizer, EndOfText: c.endOfText(f.tokenizer), Ends: c.ids(c.EOS),
		ChatTemplate: f.gguf.template}
	if c.Vocabulary == nil { // only this package writes files with such a tokenizer
		g.origin = &origin{family: c.family, config: f.contents, decoder: c.decoder}
	}
	var err error
	if g.Model, err = layers.NewDecoder(p.Scope(""), c.decoder); err != nil {
		return nil, err
	}
	return g, mapped.Guard(func() error { return f.gguf.fill(p) })
}

// fill sets the values of the parameters.
func (g *ggufFile) fill(p *layers.Params) error {
	m := g.model
	m.shapes = maps.Collect(p.Shapes())
	used := map[string]bool{"rope_freqs.weight": true, "output.weight": m.TieWordEmbeddings && m.head}
	var missing, unknown, wrong []string
	for name := range p.Shapes() {
		whole, _ := m.whole(name)
		to := m.ggufName(whole)
		t, ok := g.tensors[to]
		if want, _ := m.shape(whole); !ok && !used[to] {
			missing = append(missing, to)
		} else if ok && !used[to] && !slices.Equal(t.Shape, want) {
			wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", to, tensor.Shape(t.Shape), want))
		}
		used[to] = true
	}
	for _, name := range slices.Sorted(maps.Keys(g.tensors)) {
		if !used[name] {
			unknown = append(unknown, fmt.Sprintf("%.100q", name))
		}
	}
	if err := dense.Mismatch(missing, unknown, wrong); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	for name := range p.Shapes() {
		v, err := g.value(name)
		if err != nil {
			return err
		}
		if !v.IsManuallyManaged() && !dense.IsFinite(v) { // mapped values are checked when they are used
			return fmt.Errorf("parameter %s: has values that are %w", name, train.ErrNotFinite)
		}
		if err := p.Keep(name, v); err != nil {
			return err
		}
	}
	return nil
}

// whole returns the parameter whose tensor contains a parameter, and which part of the tensor that is.
func (m *ggufModel) whole(name string) (whole string, part int) {
	if m.isPart(name) {
		whole = strings.NewReplacer(".k_proj.", ".q_proj.", ".v_proj.", ".q_proj.").Replace(name)
		return whole, slices.Index(m.parts(whole), name)
	}
	return name, 0
}

// value returns the value of a parameter: the memory of the file if its format and order are those of the parameter, or
// else a float32 copy. No other function decides in which form a weight is kept.
func (g *ggufFile) value(name string) (*tensor.Dense, error) {
	m, shape := g.model, g.model.shapes[name]
	whole, part := m.whole(name)
	t := g.tensors[m.ggufName(whole)]
	_, transposed := m.shape(whole)
	plus, rowOf := m.plus(t.Name), m.rows(whole)
	width := 1
	if len(t.Shape) > 1 {
		width = t.Shape[1]
	}
	ordered := !transposed && plus == 0 && m.headsOf(t.Name) == 0
	kind := map[gguf.Type]safetensors.DType{gguf.F32: safetensors.F32, gguf.BF16: safetensors.BF16}[t.Type]
	if kept, ok := storedAs(kind, tensor.Float32, len(shape)); ok && ordered {
		size := width * int(kept.Size())
		from := t.Stored[rowOf(part, 0)*size:][:shape[0]*size]
		isMapped := g.Mapped && len(from) >= leastMapped
		if !isMapped {
			from = slices.Clone(from)
		}
		return dense.OfBytes(kept, from, isMapped, shape...), nil
	}
	all := make([]float32, t.Count())
	if err := t.Fill(all); err != nil {
		return nil, err
	}
	to := all
	switch {
	case transposed:
		to = make([]float32, len(all))
		transpose(to, all, width)
	case !ordered || len(to) > shape.TotalSize():
		to = make([]float32, shape.TotalSize())
		for row := range shape[0] {
			copy(to[row*width:][:width], all[rowOf(part, row)*width:])
		}
	}
	for i := range to {
		to[i] -= plus
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(to)), nil
}
