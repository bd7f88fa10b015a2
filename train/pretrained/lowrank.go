package pretrained

import (
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// lowRank is the adapter of a map as a file has it: of one of the decoder's maps, or of several as one.
type lowRank struct {
	maps          int // the decoder's that have adapters
	rank, in, out int
	a, b          []float64 // (rank, in), (out, rank)
}

// joined returns the adapters of maps of the same vectors as that of one map of all their results. Its A holds theirs
// one after the other, and its B theirs in blocks: exactly what they add together. to says which row of the map a row of
// a part is. A rank above theirs together is filled up with zeros.
func joined(p *layers.Params, parts []string, rank int, to func(part, row int) int) (j lowRank) {
	var as, bs []*tensor.Dense // nil of a part without an adapter
	for _, name := range parts {
		stem := strings.TrimSuffix(name, ".weight")
		a, has := p.Get(stem + loraA)
		b, _ := p.Get(stem + loraB)
		of := b
		if !has {
			of, _ = p.Get(name)
		} else {
			j.maps, j.rank, j.in = j.maps+1, j.rank+a.Shape()[0], a.Shape()[1]
		}
		j.out += of.Shape()[0]
		as, bs = append(as, a), append(bs, b)
	}
	j.rank = max(j.rank, rank)
	j.a, j.b = make([]float64, j.rank*j.in), make([]float64, j.out*j.rank)
	at := 0 // of the part's rank in the whole
	for part, a := range as {
		if a == nil {
			continue
		}
		copy(j.a[at*j.in:], dense.Float64s(a))
		r, values := a.Shape()[0], dense.Float64s(bs[part])
		for row := range len(values) / r {
			copy(j.b[to(part, row)*j.rank+at:], values[row*r:][:r])
		}
		at += r
	}
	return j
}

// adapters returns the adapters of the model, each of a rank, as tensors in PEFT's form with the modules that they are
// of, and the rank that they have there: the largest that a map needs.
func (t *target) adapters(each int) (all []safetensors.Tensor, modules []string, rank int) {
	var names []string             // of maps in the folder
	parts := map[string][]string{} // parameters of each
	adapted := map[string]int{}    // how many of them have an adapter
	for name := range t.Params.Shapes() {
		stem, ok := strings.CutSuffix(name, ".weight")
		if !ok || t.Params.IsAdapter(name) {
			continue
		}
		at := t.placeOf(name).name
		if parts[at] == nil {
			names = append(names, at)
		}
		parts[at] = append(parts[at], name)
		if _, ok := t.Params.Get(stem + loraA); ok {
			adapted[at]++
		}
		rank = max(rank, adapted[at]*each)
	}
	for _, name := range names {
		if adapted[name] == 0 {
			continue
		}
		var at []place
		for _, part := range parts[name] {
			at = append(at, t.placeOf(part))
		}
		j := joined(t.Params, parts[name], rank, func(part, row int) int { return at[part].row(row) })
		module, _ := moduleOf(place{name: name})
		modules = append(modules, strings.TrimPrefix(module, adapterPrefix))
		all = append(all, t.floats(module+loraA, j.a, j.rank, j.in), t.floats(module+loraB, j.b, j.out, j.rank))
	}
	return all, modules, rank
}

// floats returns numbers as a tensor of the model's type.
func (t *target) floats(name string, of []float64, shape ...int) safetensors.Tensor {
	to := safetensors.Tensor{Name: name, Shape: shape, Data: of}
	if t.GPT.Dtype() == tensor.Float32 {
		to.Data = safetensors.Convert[float32](of)
	}
	return to
}

// row returns which row of the tensor at a place a row of a parameter is.
func (at place) row(row int) int {
	if at.of == 0 {
		return row
	}
	head, i := row/at.headDim, row%at.headDim
	return (head*at.of+at.part)*at.headDim + i
}
