package kernel

import "math"

// WeightDropout drops attention weights: the same elements as Dropout with this key and site drops from the
// weights as a contiguous (B,H,T,S) tensor, with the same factor for those kept.
type WeightDropout struct {
	P    float64 // probability; 0 drops nothing
	Key  int64
	Site int
}

// drop drops from a tile the elements that Dropout would drop from the (B,H,T,S) weights.
func (r *attentionRun[F]) drop(x *scores[F]) {
	if r.Dropout.P == 0 {
		return
	}
	d := &r.Dropout
	seed := mix(mix(uint64(d.Key)) + uint64(d.Site)*golden)
	below, scale := uint64(d.P*math.Exp2(64)), F(1/(1-d.P))
	first := func(i int) uint64 { return seed + uint64(((x.b*r.H+x.h)*r.T+x.query(i))*r.S+x.s0)*golden }
	if x.of != nil {
		for i := range x.queries {
			dropRowsGo(x.keys, 1, x.data[i*x.queryStep:], x.keyStep, first(i), 0, golden, below, scale)
		}
		return
	}
	columnStep, rowStep := uint64(golden), uint64(r.S)*golden
	if x.queryStep == 1 {
		columnStep, rowStep = rowStep, columnStep
	}
	count, n, step := x.lines()
	dropRows(chosenPath, count, n, x.data, step, first(0), columnStep, rowStep, below, scale)
}
