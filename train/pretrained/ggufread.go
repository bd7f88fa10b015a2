package pretrained

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/mapped"
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

// value returns the value of a parameter. Matrices keep the file's number format: they are the file's memory, or a copy
// of it if their rows have another order there. Matrices that the file has transposed, and vectors, are float32. No
// other function decides in which form a weight is kept.
func (g *ggufFile) value(name string) (*tensor.Dense, error) {
	m, shape := g.model, g.model.shapes[name]
	whole, part := m.whole(name)
	t := g.tensors[m.ggufName(whole)]
	_, transposed := m.shape(whole)
	width := shape.TotalSize() / shape[0]
	kept, from, isMapped := t.Type.Kept(), t.Stored, g.Mapped
	if plus := m.plus(t.Name); transposed || plus != 0 || len(shape) == 1 && kept != tensor.Float32 {
		all := make([]float32, t.Count())
		if err := t.Fill(all); err != nil {
			return nil, err
		}
		for i := range all {
			all[i] -= plus
		}
		if transposed {
			turned := make([]float32, len(all))
			transpose(turned, all, t.Shape[1])
			all = turned
		}
		kept, from, isMapped = tensor.Float32, dense.Bytes(all), false
	}
	row, rowOf := len(from)/(t.Count()/width), m.rows(whole)
	size := shape[0] * row
	if m.headsOf(t.Name) > 0 {
		ordered := make([]byte, 0, size)
		for i := range shape[0] {
			ordered = append(ordered, from[rowOf(part, i)*row:][:row]...)
		}
		if isMapped {
			mapped.Release(from)
		}
		from, isMapped = ordered, false
	} else if from = from[rowOf(part, 0)*row:][:size]; !g.Mapped || size < leastMapped {
		from, isMapped = slices.Clone(from), false
	}
	return dense.OfBytes(kept, from, isMapped, shape...), nil
}
