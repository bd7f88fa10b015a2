package kernel

import "attention/internal/simd"

// backward processes the chunks of the heads [lo,hi) from the last to the first. ds is the gradient of the state after
// a chunk.
func (c *linearChunk[F]) backward(lo, hi int, grad LinearOperands[F], dout, states []F) {
	clear(c.dss)
	for i := c.States() - 2; i >= 0; i-- {
		for head := lo; head < hi; head++ {
			c.at(head, i*c.Chunk())
			c.ds = c.dss[(head-lo)*c.D*c.DV:][:c.D*c.DV]
			if c.n > 0 {
				s := c.state(states, i)
				c.read()
				c.write(s)
				c.differentiate(dout, s)
				c.leaveGradients(grad, s)
			}
			c.clearGradients(grad)
			if i == 0 && grad.State != nil {
				copy(c.state(grad.State, 0), c.ds)
			}
		}
	}
}

// clearGradients clears the gradients of tokens beyond the sequence's end.
func (c *linearChunk[F]) clearGradients(grad LinearOperands[F]) {
	c.clearBeyond(grad.Q, c.H*c.D)
	c.clearBeyond(grad.K, c.K*c.D)
	c.clearBeyond(grad.V, c.K*c.DV)
	c.clearBeyond(grad.Decay, c.K*c.decayWidth())
	c.clearBeyond(grad.Beta, c.K)
}

// differentiate computes the gradients within the chunk. do and dS are the gradients of the chunk's results:
//
//	o = z + y·u,  z = faded·S          dz = do,  du = yᵀ·do + kept·dS
//	(1 + L)·u = β·v − z                dr = (1 + L)⁻ᵀ·du,  dz = −dr in the rows of the delta rule, whose dL = −dr·uᵀ
//	y = decayed x·kᵀ                   dy = dz·uᵀ
//	S ← a⊙S + keptᵀ·u                  dkept = u·dSᵀ,  dfaded = dz·Sᵀ
//
// z holds dz, and du holds dr.
func (c *linearChunk[F]) differentiate(dout, s []F) {
	queries, D, DV := c.queryRows(), c.D, c.DV
	for r := range queries {
		h, i := c.query(r)
		copy(c.z[r*DV:][:DV], dout[c.token(i, c.H, h, DV):])
	}
	c.product(c.n, DV, queries, Transposed(c.y, c.n), Rows(c.z, DV), 0, c.du)
	c.product(c.n, DV, D, Rows(c.kept, D), Rows(c.ds, DV), 1, c.du)
	if c.in.Beta != nil {
		c.solveTransposed(c.du)
		simd.Scale(c.z[queries*DV:][:c.n*DV], c.du[:c.n*DV], -1)
	}
	c.product(c.rows, c.n, DV, Rows(c.z, DV), Transposed(c.u, DV), 0, c.dy)
	c.product(c.rows, D, DV, Rows(c.z, DV), Transposed(s, DV), 0, c.dx)
	c.product(c.n, D, DV, Rows(c.u, DV), Transposed(c.ds, DV), 0, c.dk)
	c.weighRows(c.dx, c.dx, c.first, c.rows)
	c.weighRows(c.dk, c.dk, c.last, c.n)
}

// leaveGradients writes the gradients and sets ds to the gradient of the state before the chunk:
//
//	dβ = dr·v + dx·k of the rows of the delta rule
func (c *linearChunk[F]) leaveGradients(grad LinearOperands[F], s []F) {
	if c.in.Decay != nil {
		c.countOutside(s)
	}
	c.fade(c.ds)
	c.product(c.D, c.DV, c.rows, Transposed(c.faded, c.D), Rows(c.z, c.DV), 1, c.ds)
	c.differentiatePairs()
	if c.in.Decay != nil {
		c.leaveDecays(grad.Decay)
	}
	queries, D, DV := c.queryRows(), c.D, c.DV
	for r := range queries {
		h, i := c.query(r)
		at := c.token(i, c.H, h, D)
		simd.Scale(grad.Q[at:at+D], c.dx[r*D:][:D], F(c.Scale))
	}
	for i := range c.n {
		dk, du := c.dk[i*D:][:D], c.du[i*DV:][:DV]
		if c.in.Beta != nil {
			at, v, row := c.token(i, c.K, c.h, 1), c.in.V[c.token(i, c.K, c.h, DV):][:DV], c.dx[(queries+i)*D:][:D]
			var of [2]F
			simd.Dot(du, 0, v, of[:1])
			simd.Dot(row, 0, c.k[i*D:][:D], of[1:])
			grad.Beta[at] = of[0] + of[1]
			simd.Weigh(1, row, 0, c.in.Beta[at:at+1], dk)
			simd.Scale(du, du, c.in.Beta[at])
		}
		copy(grad.K[c.token(i, c.K, c.h, D):][:D], dk)
		copy(grad.V[c.token(i, c.K, c.h, DV):][:DV], du)
	}
}

// differentiatePairs adds the gradients of y's factors to dx and dk: dx += dy·k, dk += dyᵀ·x, each pair decayed.
func (c *linearChunk[F]) differentiatePairs() {
	n, D := c.n, c.D
	if !c.Channels {
		if c.in.Decay != nil {
			c.countPairs()
		}
		c.maskPairs(c.dy)
		c.product(c.rows, D, n, Rows(c.dy, n), Rows(c.k, D), 1, c.dx)
		c.product(n, D, c.rows, Transposed(c.dy, n), Rows(c.x, D), 1, c.dk)
		return
	}
	left := c.scratch[n*D:][:n*D]
	clear(left)
	for i := range n {
		c.advance(i)
		sum := c.scratch[:(i+1)*D]
		clear(sum)
		for r := i; r < c.rows; r += n {
			seen, x, dx := c.seen(r), c.x[r*D:][:D], c.dx[r*D:][:D]
			dy := c.dy[r*n:][:seen]
			simd.Weigh(1, c.decayed, D, dy, dx)
			simd.AddOuter(seen, D, D, 1, sum, dy, x)
		}
		simd.Mul(sum, sum, c.pairs[:len(sum)])
		simd.AddRows(1, len(sum), c.dk[:len(sum)], c.dk[:len(sum)], sum)
		before := sum[:i*D]
		simd.Mul(before, before, c.k[:i*D])
		simd.AddRows(1, i*D, left[:i*D], left[:i*D], before)
		for d, v := range c.columnSums(i, D, before) {
			c.decaySums[i*D+d] += v
		}
	}
	for i, v := range left {
		c.decaySums[i] -= float64(v)
	}
}

// countOutside starts the gradients of the logarithms of decays with the terms that do not come from pairs of tokens of
// this chunk: rows times the state before the chunk, keys times the state after it, and the state that passes through.
// It must run before the terms of pairs are added to dx and dk.
func (c *linearChunk[F]) countOutside(s []F) {
	w := c.decayWidth()
	clear(c.decaySums)
	clear(c.behind)
	clear(c.through)
	whole := c.first[(c.n-1)*w:]
	for d := range c.D {
		var of [1]F
		simd.Dot(s[d*c.DV:][:c.DV], 0, c.ds[d*c.DV:][:c.DV], of[:])
		c.through[d%w] += float64(whole[d%w]) * float64(of[0])
	}
	for r := range c.rows {
		c.addProducts(c.decaySums[r%c.n*w:][:w], c.x[r*c.D:][:c.D], c.dx[r*c.D:][:c.D])
	}
	for i := range c.n {
		c.addProducts(c.behind[i*w:][:w], c.k[i*c.D:][:c.D], c.dk[i*c.D:][:c.D])
	}
}

// addProducts adds x⊙y to the sums of channels, or x·y to the sum of a head.
func (c *linearChunk[F]) addProducts(sums []float64, x, y []F) {
	if !c.Channels {
		var of [1]F
		simd.Dot(x, 0, y, of[:])
		sums[0] += float64(of[0])
		return
	}
	for d, v := range x {
		sums[d] += float64(v) * float64(y[d])
	}
}

// countPairs adds y⊙dy of the pairs to decaySums.
func (c *linearChunk[F]) countPairs() {
	n := c.n
	products := c.scratch[:c.rows*n]
	simd.Mul(products, c.y[:c.rows*n], c.dy[:c.rows*n])
	for r := range c.rows {
		c.decaySums[r%n] += simd.Sum(products[r*n:][:n])
	}
	for i, v := range c.columnSums(c.rows, n, products) {
		c.decaySums[i] -= v
	}
}

// columnSums returns the sums of the columns of x (rows, n).
func (c *linearChunk[F]) columnSums(rows, n int, x []F) []float64 {
	clear(c.sums)
	simd.SumColumns(rows, n, n, c.sums, x)
	return c.sums[:n]
}

// leaveDecays writes the gradients of the decays' logarithms.
func (c *linearChunk[F]) leaveDecays(grad []F) {
	w := c.decayWidth()
	for j := range w {
		before, from := 0.0, 0.0
		for i := range c.n {
			from += c.decaySums[i*w+j]
		}
		for i := range c.n {
			grad[c.token(i, c.K, c.h, w)+j] = F(c.through[j] + before + from)
			before += c.behind[i*w+j]
			from -= c.decaySums[i*w+j]
		}
	}
}
