package stock

import "attention/internal/kernel"

// concat returns the op that joins its inputs along an axis: "Concat(axis=1)".
func concat[F kernel.Float](c call) *Op {
	axis, ok := axisOf(c.text, "Concat(axis=", ")", c.node.Shape())
	if !ok {
		return nil
	}
	outer, n, inner := split(c.node.Shape(), axis)
	rows := make([]int, len(c.in)) // number of elements of an input in each outer row
	sum := 0
	for i, in := range c.in {
		if in.Shape().Dims() != c.node.Shape().Dims() || !isFloat[F](in) {
			return nil
		}
		o, n, width := split(in.Shape(), axis)
		if o != outer || width != inner {
			return nil
		}
		rows[i] = n * inner
		sum += n
	}
	if sum != n {
		return nil
	}
	// Each goroutine fills a part of the result, whichever inputs it comes from.
	return loops(nil, c.node.Shape().TotalSize(), loopGrain, func(y []F, x [][]F, lo, hi int) {
		row, at := lo/(n*inner), lo%(n*inner)
		for lo < hi {
			for i, width := range rows {
				if lo < hi && at < width {
					done := copy(y[lo:hi], x[i][row*width+at:(row+1)*width])
					lo, at = lo+done, at+done
				}
				at -= width
			}
			row, at = row+1, 0
		}
	})
}
