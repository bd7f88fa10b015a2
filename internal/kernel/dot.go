package kernel

// dotPart is how many products are summed in the type of the elements. The sums of the parts are added in float64.
const dotPart = 1 << 14

// Dot returns Σ x[i]·y[i] for x and y of one length. The bits of the result do not depend on GOMAXPROCS.
func Dot[F Float](x, y []F) F {
	fit("dot", len(x), len(y))
	if len(x) <= dotPart {
		var sum [1]F
		dot(chosenPath, x, 0, y, sum[:])
		return sum[0]
	}
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	c := dotCall[F]{x, y, room(&w.a, (len(x)+dotPart-1)/dotPart)}
	split(c, len(c.sums), 4)
	sum := 0.0
	for _, s := range c.sums {
		sum += float64(s)
	}
	pool.Put(w)
	return F(sum)
}

type dotCall[F Float] struct{ x, y, sums []F }

func (c dotCall[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		begin, end := i*dotPart, min((i+1)*dotPart, len(c.x))
		dot(chosenPath, c.x[begin:end], 0, c.y[begin:end], c.sums[i:i+1])
	}
}
