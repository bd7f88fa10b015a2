package pretrained

import (
	"slices"

	"attention/internal/dense"
	"attention/layers"
)

// lowRank is the adapter of a map in a file: the adapter of one of the decoder's maps, or of several maps as one.
type lowRank struct {
	maps          int // the decoder's maps that have adapters
	rank, in, out int
	scale         float64   // the factor of B·A
	a, b          []float64 // (rank, in), (out, rank)
}

// joined returns one adapter for several maps of the same vectors, as the adapter of one map with all their results.
// Its A is the concatenation of their A, or the A that all of them share, and its B has their B as blocks, so it adds
// exactly the same numbers. to returns the row of the whole map for a row of a part.
func joined(p *layers.Params, parts []string, to func(part, row int) int) (j lowRank) {
	type block struct {
		a, b  []float64
		rank  int // 0 for a part without an adapter
		at    int // first index of its rank in the whole
		scale float64
	}
	blocks := make([]block, len(parts))
	for i, name := range parts {
		weight, _ := p.Get(name)
		a, b, scale, ok := p.Adapter(name)
		if !ok {
			j.out += weight.Shape()[0]
			continue
		}
		of := block{dense.Float64s(a), dense.Float64s(b), a.Shape()[0], j.rank, scale}
		j.out, j.in, j.maps = j.out+b.Shape()[0], a.Shape()[1], j.maps+1
		same := slices.IndexFunc(blocks[:i], func(o block) bool { return o.rank > 0 && slices.Equal(o.a, of.a) })
		if same >= 0 {
			of.at = blocks[same].at
		} else {
			j.rank += of.rank
			j.a = append(j.a, of.a...)
		}
		if j.scale == 0 {
			j.scale = scale
		}
		blocks[i] = of
	}
	j.b = make([]float64, j.out*j.rank)
	for part, of := range blocks {
		for i, v := range of.b {
			j.b[to(part, i/of.rank)*j.rank+of.at+i%of.rank] = v * (of.scale / j.scale)
		}
	}
	return j
}

// widened returns the adapter with a larger rank, filled up with zeros.
func (j lowRank) widened(rank int) lowRank {
	b := make([]float64, j.out*rank)
	for i, v := range j.b {
		b[i/j.rank*rank+i%j.rank] = v
	}
	j.a, j.b, j.rank = append(j.a, make([]float64, (rank-j.rank)*j.in)...), b, rank
	return j
}

// scaled returns the adapter with another scale.
func (j lowRank) scaled(scale float64) lowRank {
	j.b = slices.Clone(j.b)
	for i := range j.b {
		j.b[i] *= j.scale / scale
	}
	j.scale = scale
	return j
}
