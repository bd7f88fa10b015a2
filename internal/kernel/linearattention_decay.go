package kernel

import (
	"math"
	"slices"

	"attention/internal/simd"
)

// linearDecays are the decays of a chunk: numbers from 0 to 1 that are multiplied up token by token. No decay is
// computed as a quotient or as the exponential of a difference, so even the strongest decays keep all bits. Numbers
// below the smallest normal number become 0.
type linearDecays[F Float] struct {
	each  []F // (n, width) of each token
	first []F // (n, width) from the chunk's beginning through each token
	last  []F // (n, width) from after each token to the chunk's end
	pairs []F // (n, n) from after one token, the column, through another; or, for one row at a time, (n, D)

	vanishes bool // whether some decay over the whole chunk is 0

	decayed []F // (n, D) the keys, decayed up to the current token
	scratch []F
}

// leastNormal returns the smallest normal number.
func leastNormal[F Float]() F {
	if simd.SizeOf[F]() == 4 {
		return 0x1p-126
	}
	return F(math.Ldexp(1, -1022))
}

// decay sets each, first and last, and for decays of whole heads pairs.
func (c *linearChunk[F]) decay() {
	w := c.decayWidth()
	if c.in.Decay == nil {
		for i := range c.n {
			c.each[i] = 1
		}
	} else {
		for i := range c.n {
			at := c.token(i, c.K, c.h, w)
			simd.Exp(c.each[i*w:][:w], c.in.Decay[at:at+w])
		}
	}
	copy(c.first, c.each[:w])
	for i := 1; i < c.n; i++ {
		decayRow(c.first[i*w:][:w], c.first[(i-1)*w:][:w], c.each[i*w:][:w])
	}
	c.vanishes = slices.Contains(c.first[(c.n-1)*w:c.n*w], 0)
	for j := range w {
		c.last[(c.n-1)*w+j] = 1
	}
	for i := c.n - 1; i > 0; i-- {
		decayRow(c.last[(i-1)*w:][:w], c.last[i*w:][:w], c.each[i*w:][:w])
	}
	if !c.Channels {
		c.decayPairs()
	}
}

// decayRow sets y ← x⊙a.
func decayRow[F Float](y, x, a []F) {
	least := leastNormal[F]()
	for i, v := range x {
		v *= a[i]
		if v < least {
			v = 0
		}
		y[i] = v
	}
}

// decayPairs sets pairs, a row from the one before.
func (c *linearChunk[F]) decayPairs() {
	n, least, seen := c.n, leastNormal[F](), 0
	for i := range n {
		row := c.pairs[i*n:][:n]
		clear(row)
		if i > 0 {
			simd.Scale(row[seen:i], c.pairs[(i-1)*n:][:n][seen:i], c.each[i])
			for ; seen < i && row[seen] < least; seen++ { // from the left on they only grow
				row[seen] = 0
			}
		}
		row[i] = 1
	}
}

// weighRows sets y to rows of x times a decay of their tokens.
func (c *linearChunk[F]) weighRows(y, x, decays []F, rows int) {
	D := c.D
	for r := range rows {
		i, y, x := r%c.n, y[r*D:][:D], x[r*D:][:D]
		if c.Channels {
			simd.Mul(y, x, decays[i*D:][:D])
		} else {
			simd.Scale(y, x, decays[i])
		}
	}
}

// fade multiplies a state by the decay of the whole chunk.
func (c *linearChunk[F]) fade(s []F) {
	if c.in.Decay == nil {
		return
	}
	w := c.decayWidth()
	whole := c.first[(c.n-1)*w:]
	for d := range c.D {
		row := s[d*c.DV:][:c.DV]
		simd.Scale(row, row, whole[d%w])
	}
}

// multiplyPairs sets y.
func (c *linearChunk[F]) multiplyPairs() {
	n := c.n
	if !c.Channels {
		c.product(c.rows, n, c.D, Rows(c.x, c.D), Transposed(c.k, c.D), 0, c.y)
		c.maskPairs(c.y)
		return
	}
	clear(c.y[:c.rows*n])
	for i := range n {
		c.advance(i)
		for r := i; r < c.rows; r += n {
			seen := c.seen(r)
			simd.Dot(c.decayed, c.D, c.x[r*c.D:][:c.D], c.y[r*n:][:seen])
		}
	}
}

// seen returns how many keys a row sees: the keys up to its token's key, without that key for a row of the delta rule.
func (c *linearChunk[F]) seen(r int) int {
	if r < c.queryRows() {
		return r%c.n + 1
	}
	return r % c.n
}

// maskPairs multiplies y (rows, n) by the decays of pairs, which are 0 for keys that a row does not see.
func (c *linearChunk[F]) maskPairs(y []F) {
	n := c.n
	for r := 0; r < c.rows; r += n {
		block := y[r*n:][:n*n]
		simd.Mul(block, block, c.pairs[:n*n])
	}
	if c.rows > c.queryRows() {
		for i := range n {
			y[(c.queryRows()+i)*n+i] = 0
		}
	}
}

// advance moves pairs to token i: pairs[j] becomes the product of the decays of tokens j+1 … i, and decayed[j] =
// pairs[j]⊙k[j], for j ≤ i. It must be called for i = 0, 1, … in order.
func (c *linearChunk[F]) advance(i int) {
	D := c.D
	for j := range i {
		if pair := c.pairs[j*D:][:D]; c.vanishes {
			decayRow(pair, pair, c.each[i*D:][:D])
		} else {
			simd.Mul(pair, pair, c.each[i*D:][:D])
		}
	}
	for d := range D {
		c.pairs[i*D+d] = 1
	}
	simd.Mul(c.decayed[:(i+1)*D], c.pairs[:(i+1)*D], c.k[:(i+1)*D])
}
