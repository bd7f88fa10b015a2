package kernel

import "attention/internal/simd"

// linearChunk is the computation of one head of a LinearAttention for a chunk of n tokens. With G = H/K, its rows are
// the queries of the G heads times Scale, one head after another, followed, with the delta rule, by the keys times β.
type linearChunk[F Float] struct {
	LinearAttention
	in    LinearOperands[F]
	b, h  int // the sequence and the head of keys
	t, n  int // the first token and how many there are
	until int // the sequence's length
	rows  int // (G+1)·n with the delta rule, otherwise G·n
	linearDecays[F]

	k, x   []F // (n, D) keys, (rows, D) rows
	kept   []F // (n, D) the keys, decayed up to the chunk's end
	faded  []F // (rows, D) the rows, times the decays since the chunk's beginning
	y      []F // (rows, n) products of rows and keys, decayed; 0 for later keys, and for a delta rule row's own key
	z      []F // (rows, DV) forward the products of faded and the state, backward the gradients of these
	u      []F // (n, DV) the values that tokens write to the state
	dx, dk []F
	dy, du []F
	ds     []F // (D, DV), one of
	dss    []F // those of all heads
	column [triangle]F

	// Sums of products of numbers and their gradients, in float64 so that cancelling terms leave nothing.
	decaySums []float64 // (n, width) of a token's rows, less those of its key with later rows
	behind    []float64 // (n, width) of its key and the state at the chunk's end
	through   []float64 // (width) of the states at the beginning and the end
	sums      []float64 // of columns
	memory    []F
	wide      []float64
}

var linearChunks = newPools[linearChunk[float32], linearChunk[float64]]()

// begin allocates memory for a number of heads.
func (c *linearChunk[F]) begin(l LinearAttention, in LinearOperands[F], heads int) {
	c.LinearAttention, c.in = l, in
	n, w := min(l.Chunk(), l.T), l.decayWidth()
	rows := l.H/l.K*n + n
	type part struct {
		to *[]F
		n  int
	}
	parts := [...]part{
		{&c.k, n * l.D}, {&c.x, rows * l.D}, {&c.kept, n * l.D}, {&c.faded, rows * l.D}, {&c.y, rows * n},
		{&c.z, rows * l.DV}, {&c.u, n * l.DV}, {&c.dx, rows * l.D}, {&c.dk, n * l.D}, {&c.dy, rows * n},
		{&c.du, n * l.DV}, {&c.dss, heads * l.D * l.DV}, {&c.each, n * w}, {&c.first, n * w}, {&c.last, n * w},
		{&c.pairs, n * max(n, w)}, {&c.decayed, n * w}, {&c.scratch, max(rows*n, 2*n*w)},
	}
	const line = 16 // numbers, so that parts begin on a cache line
	all := 0
	for _, p := range parts {
		all += (p.n + line - 1) / line * line
	}
	memory := room(&c.memory, all)
	for _, p := range parts {
		*p.to, memory = memory[:p.n:p.n], memory[(p.n+line-1)/line*line:]
	}
	sums := room(&c.wide, 2*n*w+w+max(n, w)+line)
	c.decaySums, c.behind, c.through, c.sums = sums[:n*w], sums[n*w:2*n*w], sums[2*n*w:2*n*w+w], sums[2*n*w+w:]
}

// at moves to the chunk of head i, among those of all sequences, that begins at token t. It may be empty.
func (c *linearChunk[F]) at(i, t int) {
	c.b, c.h, c.until = i/c.K, i%c.K, c.T
	if c.Lengths != nil {
		c.until = int(min(max(c.Lengths[c.b], 0), int64(c.T)))
	}
	c.t, c.n = t, max(0, min(c.Chunk(), c.until-t))
	c.rows = c.H / c.K * c.n
	if c.in.Beta != nil {
		c.rows += c.n
	}
}

// queryRows returns how many rows are those of queries.
func (c *linearChunk[F]) queryRows() int { return c.H / c.K * c.n }

// token returns the index of the numbers of a head for token i of the chunk, for heads of a width.
func (c *linearChunk[F]) token(i, heads, h, width int) int {
	return ((c.b*c.T+c.t+i)*heads + h) * width
}

// query returns the head of queries and the token of a row.
func (c *linearChunk[F]) query(r int) (h, i int) { return c.h*(c.H/c.K) + r/c.n, r % c.n }

// state returns a head's state among those before each chunk.
func (c *linearChunk[F]) state(states []F, chunk int) []F {
	return states[chunk*c.stateSize()+(c.b*c.K+c.h)*c.D*c.DV:][:c.D*c.DV]
}

// product computes sum ← a·b + β·sum for a (m,k), b (k,n) and contiguous rows of the sum.
func (c *linearChunk[F]) product(m, n, k int, a, b Matrix[F], beta F, sum []F) {
	g := Product[F]{M: m, N: n, K: k, Alpha: 1, A: a, B: b, Beta: beta, C: Rows(sum, n), Precision: c.Precision}
	if c.Precision == BFloat16 {
		g.Compute()
		return
	}
	g.alone()
}

// forward goes through the chunks of the heads [lo,hi).
func (c *linearChunk[F]) forward(lo, hi int, out, states []F) {
	for i := range c.States() - 1 {
		for head := lo; head < hi; head++ {
			c.at(head, i*c.Chunk())
			s, next := c.state(states, i), c.state(states, i+1)
			copy(next, s)
			switch {
			case c.n == 1:
				c.step(next, out)
			case c.n > 1:
				c.read()
				c.write(s)
				c.leave(out)
				c.fade(next)
				c.product(c.D, c.DV, c.n, Transposed(c.kept, c.D), Rows(c.u, c.DV), 1, next)
			}
			c.clearBeyond(out, c.H*c.DV)
		}
	}
}

// clearBeyond clears the rows of a chunk beyond the end of the sequence. width is the number of elements of a token in
// all heads.
func (c *linearChunk[F]) clearBeyond(out []F, width int) {
	if c.h > 0 || out == nil {
		return
	}
	from, to := max(c.t, c.until), min(c.t+c.Chunk(), c.T)
	if from < to {
		clear(out[(c.b*c.T+from)*width : (c.b*c.T+to)*width])
	}
}

// read sets keys, rows, decays and the products of rows and keys.
func (c *linearChunk[F]) read() {
	D, queries := c.D, c.queryRows()
	for i := range c.n {
		copy(c.k[i*D:][:D], c.in.K[c.token(i, c.K, c.h, D):])
	}
	for r := range queries {
		h, i := c.query(r)
		at := c.token(i, c.H, h, D)
		simd.Scale(c.x[r*D:][:D], c.in.Q[at:at+D], F(c.Scale))
	}
	for i := range c.rows - queries {
		simd.Scale(c.x[(queries+i)*D:][:D], c.k[i*D:][:D], c.in.Beta[c.token(i, c.K, c.h, 1)])
	}
	c.decay()
	c.weighRows(c.faded, c.x, c.first, c.rows)
	c.weighRows(c.kept, c.k, c.last, c.n)
	c.multiplyPairs()
}

// write computes z = faded·S and the values that the tokens write:
//
//	u = v, or with the delta rule (1 + L)·u = β·v − z for L, the products of its rows and the keys
func (c *linearChunk[F]) write(s []F) {
	queries, DV := c.queryRows(), c.DV
	c.product(c.rows, DV, c.D, Rows(c.faded, c.D), Rows(s, DV), 0, c.z)
	for i := range c.n {
		at, u := c.token(i, c.K, c.h, DV), c.u[i*DV:][:DV]
		if c.in.Beta == nil {
			copy(u, c.in.V[at:])
			continue
		}
		simd.Scale(u, c.in.V[at:at+DV], c.in.Beta[c.token(i, c.K, c.h, 1)])
		simd.Sub(u, u, c.z[(queries+i)*DV:][:DV])
	}
	if c.in.Beta != nil {
		c.solve(c.u)
	}
}

// leave writes o = z + y·u of the queries.
func (c *linearChunk[F]) leave(out []F) {
	queries := c.queryRows()
	c.product(queries, c.DV, c.n, Rows(c.y, c.n), Rows(c.u, c.DV), 1, c.z)
	for r := range queries {
		h, i := c.query(r)
		copy(out[c.token(i, c.H, h, c.DV):][:c.DV], c.z[r*c.DV:])
	}
}

// step is forward for one token. It sets s to the state after the token.
//
//	S ← a⊙S;  u = v or β·(v − Sᵀ·k);  S ← S + k⊗u;  o = Scale·Sᵀ·q
func (c *linearChunk[F]) step(s, out []F) {
	D, DV := c.D, c.DV
	c.decay()
	c.fade(s)
	k, v, u := c.in.K[c.token(0, c.K, c.h, D):][:D], c.in.V[c.token(0, c.K, c.h, DV):][:DV], c.u[:DV]
	copy(u, v)
	if c.in.Beta != nil {
		simd.Weigh(-1, s, DV, k, u)
		simd.Scale(u, u, c.in.Beta[c.token(0, c.K, c.h, 1)])
	}
	simd.AddOuter(D, DV, DV, 1, s, k, u)
	for r := range c.queryRows() {
		h, _ := c.query(r)
		o := out[c.token(0, c.H, h, DV):][:DV]
		clear(o)
		simd.Weigh(F(c.Scale), s, DV, c.in.Q[c.token(0, c.H, h, D):][:D], o)
	}
}
