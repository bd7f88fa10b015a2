package kernel

import (
	"math"

	"attention/internal/simd"
)

// WeightDropout drops attention weights: the elements that Dropout with this key and site drops from a contiguous
// (B,H,T,S) tensor, with the same factor for the others.
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
	seed := simd.Mix(simd.Mix(uint64(d.Key)) + uint64(d.Site)*simd.Golden)
	below, scale := uint64(d.P*math.Exp2(64)), F(1/(1-d.P))
	first := func(i int) uint64 { return seed + uint64(((x.b*r.H+x.h)*r.T+x.query(i))*r.S+x.s0)*simd.Golden }
	if x.of != nil {
		for i := range x.queries {
			simd.DropStrided(x.keys, x.data[i*x.queryStep:], x.keyStep, first(i), simd.Golden, below, scale)
		}
		return
	}
	columnStep, rowStep := uint64(simd.Golden), uint64(r.S)*simd.Golden
	if x.queryStep == 1 {
		columnStep, rowStep = rowStep, columnStep
	}
	count, n, step := x.lines()
	simd.DropRows(count, n, x.data, step, first(0), columnStep, rowStep, below, scale)
}
