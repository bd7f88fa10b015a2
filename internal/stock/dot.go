package stock

import (
	"attention/internal/kernel"
	"attention/internal/parallel"
)

// dot returns the op of the sum of the products of two vectors' elements. It is summed in float64, block by block.
func dot[F kernel.Float](c call) *Op {
	if !sameSize(c.in...) || c.node.Shape().TotalSize() != 1 {
		return nil
	}
	var x, y []F
	sums := make([]float64, (c.in[0].Shape().TotalSize()+dotBlock-1)/dotBlock)
	part := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			end := min((i+1)*dotBlock, len(x))
			sums[i] = dotOf(x[i*dotBlock:end], y[i*dotBlock:end])
		}
	}
	return computes(Loop, nil, func(out []F, in [][]F) {
		x, y = in[0], in[1]
		parallel.For(len(sums), 4, part)
		x, y = nil, nil
		total := 0.0
		for _, s := range sums {
			total += s
		}
		out[0] = F(total)
	})
}

const dotBlock = 1 << 11

func dotOf[F kernel.Float](x, y []F) float64 {
	var s [4]float64 // sums that do not depend on each other
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		s[0] += float64(x[0]) * float64(y[0])
		s[1] += float64(x[1]) * float64(y[1])
		s[2] += float64(x[2]) * float64(y[2])
		s[3] += float64(x[3]) * float64(y[3])
	}
	for i, v := range x {
		s[i] += float64(v) * float64(y[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
