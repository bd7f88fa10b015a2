package pretrained

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// readTied makes the model for an adapter whose base has tied embeddings. If the adapter trained both as one, the file
// has equal tensors for both, and those of the head are ignored. Otherwise PEFT trains only one of them, and the other
// keeps the base's numbers: then the model's head is untied.
func (t *target) readTied(c adapterConfig, f *adapterFile) error {
	tokens, _ := t.moduleOf(place{name: t.family.weights.tokens})
	head, table := f.hasModule(headModule), f.hasModule(tokens)
	if !c.Tied || !head || !table {
		if head || table {
			return t.untie()
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.tensors)) {
		kind, ok := strings.CutPrefix(name, headModule)
		if !ok {
			continue
		}
		mine, err := f.floats(name)
		if err != nil {
			return err
		}
		var twin []float64
		if f.has(tokens + kind) {
			if twin, err = f.floats(tokens + kind); err != nil {
				return err
			}
		}
		if !slices.Equal(mine, twin) {
			return fmt.Errorf("%s: got other numbers than %s's, want the same with ensure_weight_tying", headModule, tokens)
		}
		delete(f.tensors, name)
	}
	return nil
}

// untie gives the model its own output head with the numbers of the token embeddings, and records this in its
// config.json.
func (g *GPT) untie() error {
	c := g.Model.Config()
	c.TieWordEmbeddings = false
	p := layers.NewStoredParams(g.Params.Dtype())
	m, err := layers.NewDecoder(p.Scope(""), c)
	if err != nil {
		return err
	}
	var tokens *tensor.Dense // which come first
	for name, shape := range p.Shapes() {
		value, ok := g.Params.Get(name)
		if tokens == nil {
			tokens = value
		}
		if !ok {
			bytes := slices.Clone(dense.BytesOf(tokens, 0, shape.TotalSize()))
			value = dense.OfBytes(tokens.Dtype(), bytes, false, shape...)
		}
		if err := p.Keep(name, value); err != nil {
			return err
		}
	}
	g.Model, g.Params, g.untied = m, p, true
	if g.origin == nil {
		return nil
	}
	o := *g.origin
	o.decoder, o.tensors = c, maps.Clone(o.tensors)
	o.tensors[o.family.weights.head] = safetensors.Tensor{Name: o.family.weights.head,
		DType: o.tensors[o.family.weights.tokens].DType}
	fields := map[string]any{}
	for key, value := range members(o.config) {
		fields[key] = value
	}
	fields["tie_word_embeddings"] = false
	o.config, err = jsonOf(fields)
	g.origin = &o
	return err
}
