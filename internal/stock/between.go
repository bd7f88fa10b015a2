package stock

import "attention/internal/kernel"

// smaller returns the op of the smaller of two elements, larger that of the larger: NaN where one is, as in torch.
func smaller[F kernel.Float](c call) *Op { return between(c, func(x, y F) bool { return x < y }) }

func larger[F kernel.Float](c call) *Op { return between(c, func(x, y F) bool { return x > y }) }

// between returns the op that takes x if it is the better one or no number, else y.
func between[F kernel.Float](c call, better func(x, y F) bool) *Op {
	if !sameSize(c.node, c.in[0], c.in[1]) {
		return nil
	}
	return pairLoop(Loop, []int{0, 1}, floats[F], func(x, y F) F {
		if better(x, y) || x != x {
			return x
		}
		return y
	})
}
