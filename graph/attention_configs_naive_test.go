package graph_test

import (
	"math"
	"slices"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// sizes are the lengths of the axes of scores (batch…, H, T, S); the axis H may be missing.
type sizes struct {
	batch   []int
	heads   bool // whether the heads have an axis
	H, T, S int
}

// B is the number of batches.
func (z sizes) B() int { return tensor.Shape(z.batch).TotalSize() }

// shape returns the shape of the scores with extra keys.
func (z sizes) shape(extra int) []int {
	s := append([]int{}, z.batch...)
	if z.heads {
		s = append(s, z.H)
	}
	return append(s, z.T, z.S+extra)
}

// of returns the element of an array that broadcasts to the scores: axes are matched from the last, and an axis of
// length 1 is repeated.
func (z sizes) of(a array, b, h, t, s int) float64 { return a.v[z.index(a, b, h, t, s)] }

// index returns the position of that element.
func (z sizes) index(a array, b, h, t, s int) int {
	at, step, own := 0, 1, 2 // own: number of axes that are not batches
	if z.heads {
		own = 3
	}
	for axis := range a.shape {
		fromEnd := axis + 1
		d, i := a.axis(-fromEnd), 0
		switch {
		case fromEnd == 1:
			i = s
		case fromEnd == 2:
			i = t
		case fromEnd == 3 && z.heads:
			i = h
		default:
			n := z.batch[len(z.batch)-(fromEnd-own)]
			i, b = b%n, b/n
		}
		if d > 1 {
			at += i * step
		}
		step *= d
	}
	return at
}

// naive computes attention by its definition, query by query. keep holds the dropout's factors of the weights. blind
// lists the rows (b, h, t) that see no key.
func (a drawnAttention) naive(keep array) (out, weights array, blind []bool) {
	z, q, k, v := a.z, a.q, a.k, a.v
	if a.c.Heads > 0 {
		group := a.c.Heads / a.keyHeads()
		q, k = naiveSplitHeads(q, a.c.Heads), naiveRepeatHeads(naiveSplitHeads(k, a.keyHeads()), group)
		v = naiveRepeatHeads(naiveSplitHeads(v, a.keyHeads()), group)
	}
	out, weights = q.like(v.axis(-1)), zeros(z.shape(a.c.ExtraKeys)...)
	q, k, v = q.matrices(), k.matrices(), v.matrices()
	to, w := out.matrices(), weights.matrices()
	for row := range len(w.v) / w.shape[2] {
		n, b, h, t := row/z.T, row/z.T/z.H, row/z.T%z.H, row%z.T
		scores := make([]float64, w.shape[2])
		for s := range scores {
			scores[s] = a.score(q, k, b, h, t, s)
		}
		most, sink := slices.Max(scores), a.sinks.or(math.Inf(-1), h)
		blind = append(blind, math.IsInf(most, -1))
		if blind[row] {
			continue
		}
		top := max(most, sink)
		sum := math.Exp(sink - top)
		for _, score := range scores {
			sum += math.Exp(score - top)
		}
		for s, score := range scores {
			weight := math.Exp(score-top) / sum
			if a.c.Sigmoid {
				weight = 1 / (1 + math.Exp(-score-a.c.SigmoidBias))
			}
			w.v[w.i(n, t, s)] = weight * keep.v[w.i(n, t, s)]
			for i := range to.shape[2] {
				to.v[to.i(n, t, i)] += w.at(n, t, s) * v.at(n, s, i)
			}
		}
	}
	if a.c.Heads > 0 {
		out = naiveMergeHeads(out)
	}
	return out, weights, blind
}

// score returns one score, −∞ for a hidden key.
func (a drawnAttention) score(q, k array, b, h, t, s int) float64 {
	if !a.sees(b, h, t, s) {
		return math.Inf(-1)
	}
	n := b*a.z.H + h
	x, _ := a.scoreOf(dotOf(q, n, t, k, n, s), b, h, t, s)
	return x
}

// blocksOf returns the blocks that query t of matrix n sees: its own block and, among the blocks before it, those with
// the largest gates. If two gates are equal, the earlier block comes first.
func (a drawnAttention) blocksOf(q, k array, n, t int) []int {
	size := a.c.Sparse.BlockSize
	own := t / size
	gates := make([]float64, own)
	for s := range own * size {
		gates[s/size] += dotOf(q, n, t, k, n, s) / float64(size)
	}
	blocks := []int{own}
	for len(blocks) < a.c.Sparse.Blocks && len(blocks) <= own {
		best := -1
		for i, gate := range gates {
			if !slices.Contains(blocks, i) && (best < 0 || gate > gates[best]) {
				best = i
			}
		}
		blocks = append(blocks, best)
	}
	return blocks
}

// sees reports whether a query sees a key; all queries see the extra keys.
func (a drawnAttention) sees(b, h, t, s int) bool {
	if a.blocks != nil && (s > t || !slices.Contains(a.blocks[(b*a.z.H+h)*a.z.T+t], s/a.c.Sparse.BlockSize)) {
		return false
	}
	return s >= a.z.S || a.mask == nil || a.mask.sees(a.z, b, h, t, s)
}

// dotOf returns the product of row i of matrix n of x with row j of matrix m of y.
func dotOf(x array, n, i int, y array, m, j int) (sum float64) {
	for d := range x.shape[2] {
		sum += x.at(n, i, d) * y.at(m, j, d)
	}
	return sum
}

// scoreOf returns the score of a visible key, and its derivative with respect to q·k·scale.
func (a drawnAttention) scoreOf(product float64, b, h, t, s int) (x, slope float64) {
	z := a.z
	x, slope = product*a.scale(), 1
	if c := a.c.Softcap; c > 0 {
		y := math.Tanh(x / c)
		x, slope = c*y, 1-y*y
	}
	if s >= z.S { // an extra key
		return x, slope
	}
	if f, ok := a.c.Score.(graph.ScoreFunc); ok {
		slope *= f.Slope(x, b, h, t, s)
		x = f.Score(x, b, h, t, s)
	}
	if a.bias.name != "" {
		x += z.of(a.bias.sum, b, h, t, s)
	}
	if r := a.relative.sum; a.relative.name != "" {
		x += r.at(h%r.shape[0], t-s+z.S-1)
	}
	return x + a.forgotten(b, h, t, s), slope
}

// forgotten returns the sum of log-gates that is added to a score.
func (a drawnAttention) forgotten(b, h, t, s int) (sum float64) {
	if a.gates.name == "" {
		return 0
	}
	own := t + a.z.S - a.z.T
	for i := s + 1; i <= own; i++ {
		sum += *a.gate(a.gates.array, b, h, i)
	}
	for i := own + 1; i <= s; i++ {
		sum -= *a.gate(a.gates.array, b, h, i)
	}
	return sum
}

// gate returns the element for one key of an array that is shaped like the log-gates.
func (a drawnAttention) gate(of array, b, h, s int) *float64 {
	if a.c.Heads > 0 {
		return &of.v[(b*a.z.S+s)*a.z.H+h]
	}
	return &of.v[(b*a.z.H+h)*a.z.S+s]
}

// names returns the names of the arguments that have a gradient.
func (a drawnAttention) names() []string {
	names := []string{"q", "k", "v"}
	for _, x := range []addend{a.bias, a.relative, a.gates, a.sinks} {
		if x.name != "" && !x.detached {
			names = append(names, x.name)
		}
	}
	return names
}

// express builds the attention. Its inputs are the arguments that have a gradient.
func (a drawnAttention) express(t testing.TB, fused bool) (e expression, weights *G.Node) {
	t.Helper()
	e, c := a.arguments(t)
	var err error
	if fused {
		e.out, err = fusedAttention(e.in[0], e.in[1], e.in[2], c)
	} else {
		e.out, weights, err = graph.Attention(e.in[0], e.in[1], e.in[2], c)
	}
	require.NoError(t, err)
	return e, weights
}

// arguments returns the nodes of the arguments, q, k and v first.
func (a drawnAttention) arguments(t testing.TB) (e expression, c graph.AttentionConfig) {
	t.Helper()
	e.g = G.NewGraph()
	q, k, v := node(e.g, "q", a.q, a.dt), node(e.g, "k", a.k, a.dt), node(e.g, "v", a.v, a.dt)
	e.in = G.Nodes{q, k, v}
	c = a.c
	c.Bias, c.RelativeBias = a.bias.node(t, &e, a.dt), a.relative.node(t, &e, a.dt)
	c.LogGates, c.Sinks = a.gates.node(t, &e, a.dt), a.sinks.node(t, &e, a.dt)
	if c.Dropout.P > 0 {
		c.Dropout.Key = node(e.g, "key", array{nil, []float64{a.key}}, tensor.Int64)
	}
	if a.mask != nil {
		c.Mask = a.mask.build(e.g, new(int))
	}
	return e, c
}

// node makes the addend's node, nil for none.
func (a addend) node(t testing.TB, e *expression, dt tensor.Dtype) *G.Node {
	t.Helper()
	if a.name == "" {
		return nil
	}
	n := node(e.g, a.name, a.array, dt)
	if !a.detached {
		e.in = append(e.in, n)
	}
	var err error
	if a.hide != nil {
		n, err = graph.Add(n, node(e.g, a.name+" −∞", array{a.shape, a.hide}, dt))
		require.NoError(t, err)
	}
	if a.detached {
		n, err = graph.Detach(n)
		require.NoError(t, err)
	}
	return n
}

// batch returns the attention of one batch, with batch axes of length 1.
func (a drawnAttention) batch(b int) drawnAttention {
	one := a
	one.q, one.k, one.v = a.part("q", a.q, b), a.part("k", a.k, b), a.part("v", a.v, b)
	if a.bias.name != "" {
		one.bias.array = a.part("bias", a.bias.array, b)
	}
	if a.bias.hide != nil {
		one.bias.hide = a.part("bias", array{a.bias.shape, a.bias.hide}, b).v
	}
	one.bias = one.bias.added()
	if a.gates.name != "" {
		one.gates.array = a.part("log gates", a.gates.array, b)
	}
	if a.mask != nil {
		m := a.maskOf(*a.mask, b)
		one.mask = &m
	}
	if f, ok := a.c.Score.(graph.ScoreFunc); ok {
		one.c.Score = graph.ScoreFunc{
			Score: func(x float64, _, h, t, s int) float64 { return f.Score(x, b, h, t, s) },
			Slope: func(x float64, _, h, t, s int) float64 { return f.Slope(x, b, h, t, s) },
		}
	}
	if a.blocks != nil {
		one.blocks = a.blocks[b*a.z.H*a.z.T:][:a.z.H*a.z.T]
	}
	one.z.batch = slices.Repeat([]int{1}, len(a.z.batch))
	return one
}

// part returns the part of a named array that belongs to one batch, or the whole array if all batches share it.
func (a drawnAttention) part(name string, x array, b int) array {
	scores, heads := len(a.z.shape(0))-len(a.z.batch), len(a.q.shape)-len(a.z.batch)
	own, ok := map[string]int{
		"bias": scores, "keep": scores, "lengths": 0, "causal at": 0, "segments": 1, "relative bias": 2, "sinks": 1,
		"log gates": 0,
	}[name]
	switch {
	case !ok:
		own = heads
	case name == "log gates":
		own = len(a.gateShape()) - len(a.z.batch)
	}
	lead, rest := x.shape[:max(len(x.shape)-own, 0)], x.shape[max(len(x.shape)-own, 0):]
	if n := tensor.Shape(lead).TotalSize(); n == 1 || len(lead) == 0 {
		return x
	}
	n := tensor.Shape(rest).TotalSize()
	return array{append(slices.Repeat([]int{1}, len(lead)), rest...), x.v[b*n:][:n]}
}
