package pretrained

import (
	"strings"

	"attention/internal/dense"
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
