package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// attentionProblem is an attention with its arguments, in slices that are larger than the layouts need.
type attentionProblem[F Float] struct {
	a                   *Attention
	in, grad            QKV[F]
	out, dout, lse      []F
	guard               F
	rand                *rand.Rand
	sizeQ, sizeK, sizeV int
	sizeOut, sizeB      int
}

// newAttentionProblem makes an attention in contiguous (B,T,H·D) slices; if biased is true, it has both biases and
// sinks for each head, shared by all batches, and log-gates.
func newAttentionProblem[F Float](a Attention, biased bool) *attentionProblem[F] {
	a.Scale = 1 / math.Sqrt(float64(a.D))
	a.QueryAt, a.KeyAt = HeadsInRow(a.H, a.T, a.D), HeadsInRow(a.K, a.S, a.D)
	a.ValueAt, a.OutputAt = HeadsInRow(a.K, a.S, a.DV), HeadsInRow(a.H, a.T, a.DV)
	p := &attentionProblem[F]{
		a: &a, rand: rand.New(rand.NewPCG(5, 6)),
		sizeQ: a.B * a.T * a.H * a.D, sizeK: a.B * a.S * a.K * a.D,
		sizeV: a.B * a.S * a.K * a.DV, sizeOut: a.B * a.T * a.H * a.DV,
	}
	if biased {
		s := a.S - a.Unbiased
		a.BiasAt = BiasLayout{Head: a.T * s, Query: s, Key: 1}
		a.RelativeAt = RelativeLayout{Head: a.T + s - 1, Zero: s - 1}
		n := a.H * (a.T + s - 1)
		p.in.Relative, p.grad.Relative = normals[F](p.rand, n), make([]F, n)
		p.in.Sinks, p.grad.Sinks = normals[F](p.rand, a.H), make([]F, a.H)
		p.sizeB = a.H * a.T * s
		p.in.Bias, p.grad.Bias = normals[F](p.rand, p.sizeB), make([]F, p.sizeB)
		p.forget(0)
	}
	p.fill()
	return p
}

// forget makes sums of log-gates that begin at the given value, with gaps between heads.
func (p *attentionProblem[F]) forget(from float64) {
	a := p.a
	p.in.Forget, p.grad.Forget = a.NewForgetting(), a.NewForgetting()
	p.in.Forget.Rows += 3
	p.in.Forget.Key = make([]float64, a.B*a.H*p.in.Forget.Rows)
	for _, sums := range [][]float64{p.in.Forget.Query, p.in.Forget.Key} {
		sum := from
		for i := range sums {
			if i%(len(sums)/(a.B*a.H)) == 0 {
				sum = from
			}
			sum -= p.rand.ExpFloat64() / 8
			sums[i] = sum
		}
	}
	for _, grads := range [][]float64{p.grad.Forget.Query, p.grad.Forget.Key} {
		for i := range grads {
			grads[i] = math.NaN()
		}
	}
}

// visibleRules are rules for T queries and S keys, by name.
func visibleRules(r *rand.Rand, batch, t, s int) map[string]func(b, t int) (int, int) {
	width, prefix := 1+r.IntN(s+1), r.IntN(s+1)
	lengths := make([]int, batch)
	for b := range lengths {
		lengths[b] = r.IntN(s + 1)
	}
	lo, hi := make([]int, batch*t), make([]int, batch*t)
	for i := range lo {
		lo[i], hi[i] = r.IntN(s+2)-1, r.IntN(s+2) // some ranges are empty, some reach outside [0,S)
	}
	return map[string]func(b, t int) (int, int){
		"all":          nil,
		"causal":       func(_, i int) (int, int) { return 0, i + 1 },
		"causal-last":  func(_, i int) (int, int) { return 0, i + 1 + s - t },
		"anti-causal":  func(_, i int) (int, int) { return i, s },
		"window":       func(_, i int) (int, int) { return i - width, i + 1 },
		"both-sides":   func(_, i int) (int, int) { return i - width, i + width },
		"prefix":       func(_, i int) (int, int) { return 0, max(prefix, i+1) },
		"lengths":      func(b, _ int) (int, int) { return 0, lengths[b] },
		"some-queries": func(b, i int) (int, int) { return 0, min(i*s, s) * min(max(lengths[b]-i, 0), 1) },
		"any":          func(b, i int) (int, int) { return lo[b*t+i], hi[b*t+i] },
		"nothing":      func(_, _ int) (int, int) { return 0, 0 },
	}
}

var ruleNames = []string{
	"all", "causal", "causal-last", "anti-causal", "window", "both-sides", "prefix", "lengths", "some-queries", "any",
	"nothing",
}

// shownRules maps names to rules about the keys that Visible allows.
func shownRules(r *rand.Rand, a *Attention) map[string]ShownFunc {
	salt := r.Uint64()
	scattered := func(b, h, t, s0 int, shown []bool) bool {
		for j := range shown {
			shown[j] = simd.Mix(salt+uint64(((b*a.H+h)*a.T+t)*a.S+s0+j))%3 > 0
		}
		return true
	}
	return map[string]ShownFunc{
		"all":       nil,
		"scattered": scattered,
		"some":      func(b, h, t, s0 int, shown []bool) bool { return t%2 == 0 && scattered(b, h, t, s0, shown) },
		"none": func(b, h, t, s0 int, shown []bool) bool {
			clear(shown)
			return t%3 == 0
		},
	}
}

var shownNames = []string{"all", "all", "scattered", "some", "none"}

// drawLayout draws a layout of rows: one of the two usual ones, or one with gaps everywhere.
func drawLayout(t *rapid.T, name string, batch, heads, rows, width int) (at HeadLayout, size int) {
	switch rapid.IntRange(0, 2).Draw(t, name+" layout") {
	case 0:
		at = HeadsFirst(heads, rows, width)
	case 1:
		at = HeadsInRow(heads, rows, width)
	default:
		at.Row = width + 3
		at.Head = rows*at.Row + 1
		at.Batch = heads*at.Head + 2
	}
	return at, batch*max(at.Batch, 1) + 5
}

func drawProblem[F Float](t *rapid.T) *attentionProblem[F] { return drawQueries[F](t, 0, 3) }

// drawQueries draws a problem with n queries, or with any number if n is 0, and with at most group query heads per key
// head.
func drawQueries[F Float](t *rapid.T, n, group int) *attentionProblem[F] {
	lengths := []int{1, 2, 3, 5, 13, 64, 67, 128, 131, 197, 263}
	widths := []int{1, 2, 3, 5, 7, 16, 17, 31, 64}
	if testenv.Race { // the reference becomes ten times slower
		lengths, widths = []int{1, 2, 67, 131}, []int{1, 3, 17}
	}
	a := &Attention{
		B: rapid.IntRange(1, 3).Draw(t, "B"), K: rapid.IntRange(1, 2).Draw(t, "K"),
		T: rapid.SampledFrom(lengths).Draw(t, "T"), S: rapid.SampledFrom(lengths).Draw(t, "S"),
		D: rapid.SampledFrom(widths).Draw(t, "D"), DV: rapid.SampledFrom(widths).Draw(t, "DV"),
	}
	if n > 0 {
		a.T = n
	}
	a.H = a.K * rapid.IntRange(1, group).Draw(t, "group")
	if a.B*a.H*a.T*a.S > 1<<16 { // the reference is slow
		a.B, a.H = 1, a.K
	}
	p := &attentionProblem[F]{a: a, rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
	a.Scale = 1 / math.Sqrt(float64(a.D))
	if rapid.IntRange(0, 7).Draw(t, "huge") == 0 {
		a.Scale = 3e4 // nearly one-hot weights
	}
	rule := rapid.SampledFrom(ruleNames).Draw(t, "rule")
	a.Visible = visibleRules(p.rand, a.B, a.T, a.S)[rule]
	a.Alike = !slices.Contains([]string{"lengths", "some-queries", "any"}, rule)
	a.Softcap = rapid.SampledFrom([]float64{0, 0, 0.7, 30}).Draw(t, "softcap")
	a.Dropout = WeightDropout{P: rapid.SampledFrom([]float64{0, 0, 0.3, 0.9}).Draw(t, "drop"), Key: 7, Site: 3}
	a.QueryAt, p.sizeQ = drawLayout(t, "q", a.B, a.H, a.T, a.D)
	a.KeyAt, p.sizeK = drawLayout(t, "k", a.B, a.K, a.S, a.D)
	a.ValueAt, p.sizeV = drawLayout(t, "v", a.B, a.K, a.S, a.DV)
	a.OutputAt, p.sizeOut = drawLayout(t, "out", a.B, a.H, a.T, a.DV)
	a.Unbiased = rapid.SampledFrom([]int{0, 0, min(1, a.S), min(2, a.S)}).Draw(t, "unbiased")
	if rapid.Bool().Draw(t, "bias") {
		p.drawBias(t)
	}
	if rapid.Bool().Draw(t, "relative") {
		a.RelativeAt.Zero = a.S - 1 + p.rand.IntN(3)
		if p.rand.IntN(3) > 0 {
			a.RelativeAt.Head = a.T + a.RelativeAt.Zero + p.rand.IntN(2)
		}
		n := (a.H-1)*a.RelativeAt.Head + a.T + a.RelativeAt.Zero
		p.in.Relative, p.grad.Relative = normals[F](p.rand, n), make([]F, n)
	}
	if rapid.Bool().Draw(t, "forget") {
		p.forget(rapid.SampledFrom([]float64{0, -1e6}).Draw(t, "first sum"))
	}
	if rapid.Bool().Draw(t, "sinks") {
		p.in.Sinks, p.grad.Sinks = normals[F](p.rand, a.H), make([]F, a.H)
	}
	if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
		a.Score = func(x float64, b, h, t, s int) float64 { return x/2 + math.Sin(x+float64(b+2*h+3*t-s)) }
		a.ScoreSlope = func(x float64, b, h, t, s int) float64 { return 0.5 + math.Cos(x+float64(b+2*h+3*t-s)) }
	}
	if p.in.Sinks == nil && a.Scale < 1e4 && rapid.Bool().Draw(t, "sigmoid") {
		a.Sigmoid, a.SigmoidBias = true, rapid.SampledFrom([]float64{0, -2.5}).Draw(t, "sigmoid bias")
	}
	a.Shown = shownRules(p.rand, a)[rapid.SampledFrom(shownNames).Draw(t, "shown")]
	p.fill()
	return p
}

// drawBias draws a bias that is broadcast over any of the axes; the other axes are contiguous, or have gaps.
func (p *attentionProblem[F]) drawBias(t *rapid.T) {
	a, at := p.a, &p.a.BiasAt
	step := rapid.IntRange(1, 2).Draw(t, "bias gap")
	for _, axis := range []struct {
		step *int
		n    int
		name string
	}{
		{step: &at.Key, n: a.S, name: "S"},
		{step: &at.Query, n: a.T, name: "T"},
		{step: &at.Head, n: a.H, name: "H"},
		{step: &at.Batch, n: a.B, name: "B"},
	} {
		if rapid.IntRange(0, 2).Draw(t, "bias over "+axis.name) > 0 {
			*axis.step = step
			step *= axis.n
		}
	}
	p.sizeB = step + 3
	p.in.Bias, p.grad.Bias = make([]F, p.sizeB), make([]F, p.sizeB)
	for i := range p.in.Bias {
		p.in.Bias[i] = F(p.rand.NormFloat64())
		if p.rand.IntN(5) == 0 {
			p.in.Bias[i] = simd.NegInf[F]()
		}
	}
}

// fill makes the arguments, and outputs filled with a number that no computation gives.
func (p *attentionProblem[F]) fill() {
	a := p.a
	p.guard = F(math.NaN())
	p.in.Q, p.in.K, p.in.V = normals[F](p.rand, p.sizeQ), normals[F](p.rand, p.sizeK), normals[F](p.rand, p.sizeV)
	p.dout = normals[F](p.rand, p.sizeOut)
	p.out, p.lse = make([]F, p.sizeOut), make([]F, RowNumbers*a.B*a.H*a.T+4)
	p.grad.Q, p.grad.K, p.grad.V = make([]F, p.sizeQ), make([]F, p.sizeK), make([]F, p.sizeV)
	for _, x := range [][]F{p.out, p.lse, p.grad.Q, p.grad.K, p.grad.V, p.grad.Bias, p.grad.Relative, p.grad.Sinks} {
		for i := range x {
			x[i] = p.guard
		}
	}
}

func (p *attentionProblem[F]) call() *AttentionCall[F] {
	return &AttentionCall[F]{Attention: *p.a, In: p.in, Out: p.out, LSE: p.lse}
}

func (p *attentionProblem[F]) watchedCall(stats RowStatistics[F]) *AttentionCall[F] {
	c := p.call()
	c.Stats = stats
	return c
}

func (p *attentionProblem[F]) run() {
	p.call().Forward()
	p.call().Backward(p.grad, p.dout)
}

// tolerance is the error allowed relative to a sum of absolute values. The scores have errors of eps times the sum of
// their absolute products, which become relative errors of the weights, in the numerator and in lse; all other errors
// come from sums, are random and stay below 40 roundings.
func (p *attentionProblem[F]) tolerance(n *naive) float64 {
	return roundingOf[F]() * (40 + 6*n.scoreAbs)
}

// bounds returns the allowed errors of numbers with these companions: tolerance, and for bfloat16 the effect of its
// roundings.
func (p *attentionProblem[F]) bounds(n *naive, abs, rounded []float64) []float64 {
	tol, bounds := p.tolerance(n), make([]float64, len(abs))
	for i := range bounds {
		bounds[i] = tol * abs[i]
		if p.a.Precision == BFloat16 {
			bounds[i] += halfBF16 * rounded[i]
		}
	}
	return bounds
}

// inBF16 rounds the arguments to bfloat16.
func inBF16(p *attentionProblem[float32]) {
	p.a.Precision = BFloat16
	for _, x := range [][]float32{p.in.Q, p.in.K, p.in.V, p.dout} {
		for i, v := range x {
			x[i] = simd.RoundBF16(v)
		}
	}
}

// roundingOf returns the largest relative error of one rounding.
func roundingOf[F Float]() float64 {
	if simd.SizeOf[F]() == 4 {
		return 0x1p-24
	}
	return 0x1p-53
}

// close compares the elements of a layout with the reference, and checks that nothing else was written.
func (p *attentionProblem[F]) close(t require.TestingT, name string, got []F, heads, rows, width int, at HeadLayout,
	want, bounds []float64) {
	written := make([]bool, len(got))
	i := 0
	for b := range p.a.B {
		for h := range heads {
			for r := range rows {
				for d := range width {
					at := at.at(b, h, r) + d
					written[at] = true
					element := fmt.Sprintf("%s of batch %d, head %d, row %d, column %d", name, b, h, r, d)
					p.equal(t, element, got[at], want[i], bounds[i])
					i++
				}
			}
		}
	}
	for i, w := range written {
		if !w && got[i] == got[i] {
			require.Failf(t, "written outside", "%s: element %d is %v", name, i, got[i])
		}
	}
}

func (p *attentionProblem[F]) equal(t require.TestingT, name string, got F, want, bound float64) {
	// Weights below the smallest normal number are 0.
	if g := float64(got); g != want && !(math.Abs(g-want) <= bound+1e-31) {
		require.Failf(t, "wrong", "%s: got %v, want %v within %g", name, g, want, bound)
	}
}

func (p *attentionProblem[F]) verify(t require.TestingT) {
	a, n := p.a, newNaive(p.a, p.in)
	n.backward(dense(p.dout, a.B, a.H, a.T, a.DV, a.OutputAt))
	tol := p.tolerance(n)
	p.close(t, "out", p.out, a.H, a.T, a.DV, a.OutputAt, n.out, p.bounds(n, n.outAbs, n.outAbs))
	for i, v := range n.lse {
		p.equal(t, fmt.Sprintf("lse of row %d", i), p.lse[i], v, tol*(1+math.Abs(v)))
	}
	p.close(t, "dq", p.grad.Q, a.H, a.T, a.D, a.QueryAt, n.dq, p.bounds(n, n.dqA, n.dqR))
	p.close(t, "dk", p.grad.K, a.K, a.S, a.D, a.KeyAt, n.dk, p.bounds(n, n.dkA, n.dkR))
	p.close(t, "dv", p.grad.V, a.K, a.S, a.DV, a.ValueAt, n.dv, p.bounds(n, n.dvA, n.dvA))
	sinks, scores := p.bounds(n, n.dsA, n.dsR), p.bounds(n, n.dbA, n.dbR)
	for h, v := range p.grad.Sinks {
		p.equal(t, fmt.Sprintf("dsinks %d", h), v, n.ds[h], sinks[h])
	}
	if p.in.Relative != nil {
		p.closeSums(t, "drelative", p.grad.Relative, n.db, scores, relativeIndex, 0)
	}
	if p.in.Bias != nil {
		p.closeSums(t, "dbias", p.grad.Bias, n.db, scores, biasIndex, p.guard)
	}
	if p.in.Forget.Key != nil {
		p.closeForgetting(t, n.db, scores)
	}
}

// closeForgetting compares the gradients of the sums of log-gates. These are sums of score gradients over keys and over
// queries; the score gradients have the given bounds.
func (p *attentionProblem[F]) closeForgetting(t require.TestingT, scores, bounds []float64) {
	a, got := p.a, p.grad.Forget
	query, queryBound, key, keyBound := a.NewForgetting(), a.NewForgetting(), a.NewForgetting(), a.NewForgetting()
	for i, v := range scores {
		if !isBiased(a, i) {
			continue
		}
		row, at := i/a.S, i/a.S/a.T*got.Rows+i%a.S
		query.Query[row] += v
		queryBound.Query[row] += bounds[i]
		key.Key[at] -= v
		keyBound.Key[at] += bounds[i]
	}
	for i, v := range got.Query {
		p.equal(t, fmt.Sprintf("dforget of query %d", i), F(v), query.Query[i], queryBound.Query[i])
	}
	for i, v := range got.Key {
		p.equal(t, fmt.Sprintf("dforget of key %d", i), F(v), key.Key[i], keyBound.Key[i])
	}
}

// closeSums compares the gradient of a bias with sums of score gradients, which have the given bounds. Element i of
// (B,H,T,S) uses the element of the bias at index; elements that no pair uses must hold unused.
func (p *attentionProblem[F]) closeSums(t require.TestingT, name string, got []F, scores, bounds []float64,
	index func(*Attention, int) int, unused F) {
	want, bound, used := make([]float64, len(got)), make([]float64, len(got)), make([]bool, len(got))
	for i, v := range scores {
		if !isBiased(p.a, i) {
			continue
		}
		at := index(p.a, i)
		want[at] += v
		bound[at] += bounds[i]
		used[at] = true
	}
	for i, v := range got {
		if used[i] {
			p.equal(t, fmt.Sprintf("%s %d", name, i), v, want[i], bound[i])
		} else if v != unused && (v == v || unused == unused) {
			require.Failf(t, "written outside", "%s: element %d is %v", name, i, v)
		}
	}
}

func TestAttentionAgainstNaive(t *testing.T) {
	onPaths(t, testAgainstNaive[float32], testAgainstNaive[float64])
}

func testAgainstNaive[F Float](t *testing.T, p simd.Set) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawProblem[F](t)
		x.run()
		x.verify(t)
	})
}

// TestAttentionBF16AgainstNaive: rows are paired, and a rule's range may begin and end within a pair.
func TestAttentionBF16AgainstNaive(t *testing.T) {
	for _, p := range paths() {
		if slowGo(p) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			onPath(t, p)
			rapid.Check(t, func(t *rapid.T) {
				x := drawProblem[float32](t)
				inBF16(x)
				x.run()
				x.verify(t)
			})
		})
	}
}

func TestAttentionEmpty(t *testing.T) {
	for _, a := range []Attention{
		{B: 0, H: 2, K: 1, T: 3, S: 4, D: 5, DV: 6},
		{B: 1, H: 0, K: 1, T: 3, S: 4, D: 5, DV: 6},
		{B: 1, H: 2, K: 1, T: 0, S: 4, D: 5, DV: 6},
		{B: 1, H: 2, K: 1, T: 3, S: 0, D: 5, DV: 6},
		{B: 1, H: 2, K: 1, T: 3, S: 4, D: 0, DV: 6},
		{B: 1, H: 2, K: 1, T: 3, S: 4, D: 5, DV: 0},
	} {
		p := newAttentionProblem[float64](a, true)
		p.a.Scale = 1
		p.run()
		p.verify(t)
	}
}

func TestAttentionPanicsBeforeItWrites(t *testing.T) {
	type problem = attentionProblem[float64]
	type row struct {
		want   string
		change func(p *problem)
	}
	check := func(r row, call func(p *problem)) {
		p := newAttentionProblem[float64](Attention{B: 2, H: 4, K: 2, T: 3, S: 5, D: 6, DV: 7}, true)
		r.change(p)
		assert.PanicsWithValue(t, "kernel: attention: "+r.want, func() { call(p) })
		for _, x := range [][]float64{p.out, p.lse, p.grad.Q} {
			for _, v := range x {
				assert.NotEqual(t, v, v)
			}
		}
	}
	forward := func(p *problem) { p.call().Forward() }
	backward := func(p *problem) { p.call().Backward(p.grad, p.dout) }
	for _, r := range []row{
		{want: "negative dimension", change: func(p *problem) { p.a.S = -1 }},
		{want: "the key/value heads do not divide the query heads", change: func(p *problem) { p.a.K = 3 }},
		{want: "the key/value heads do not divide the query heads", change: func(p *problem) { p.a.K = 0 }},
		{want: "softcap or dropout outside its range", change: func(p *problem) { p.a.Softcap = math.NaN() }},
		{want: "softcap or dropout outside its range", change: func(p *problem) { p.a.Dropout.P = 1 }},
		{want: "sinks beside a sigmoid", change: func(p *problem) { p.a.Sigmoid = true }},
		{want: "q: slice is too short", change: func(p *problem) { p.in.Q = p.in.Q[1:] }},
		{want: "k: slice is too short", change: func(p *problem) { p.in.K = p.in.K[1:] }},
		{want: "v: slice is too short", change: func(p *problem) { p.in.V = p.in.V[1:] }},
		{want: "v: negative stride", change: func(p *problem) { p.a.ValueAt.Row = -1 }},
		{want: "k: slice is too short", change: func(p *problem) { p.a.KeyAt.Head = math.MaxInt }},
		{want: "bias: slice is too short", change: func(p *problem) { p.in.Bias = p.in.Bias[1:] }},
		{want: "relative bias: slice is too short", change: func(p *problem) { p.in.Relative = p.in.Relative[1:] }},
		{want: "relative bias: slice is too short", change: func(p *problem) { p.a.RelativeAt.Zero-- }},
		{want: "sinks: slice is too short", change: func(p *problem) { p.in.Sinks = p.in.Sinks[1:] }},
		{want: "forgetting: slice is too short", change: func(p *problem) { p.in.Forget.Query = p.in.Forget.Query[1:] }},
		{want: "forgetting: slice is too short", change: func(p *problem) { p.in.Forget.Key = p.in.Forget.Key[1:] }},
		{want: "forgetting: slice is too short", change: func(p *problem) { p.in.Forget.Rows = p.a.S - 1 }},
		{want: "out: slice is too short", change: func(p *problem) { p.out = p.out[1:] }},
		{want: "lse: slice is too short", change: func(p *problem) { p.lse = p.lse[:71] }},
	} {
		check(r, forward)
		check(r, backward)
	}
	for _, r := range []row{
		{want: "dout: slice is too short", change: func(p *problem) { p.dout = nil }},
		{want: "q gradient: slice is too short", change: func(p *problem) { p.grad.Q = p.grad.Q[1:] }},
		{want: "k gradient: slice is too short", change: func(p *problem) { p.grad.K = p.grad.K[1:] }},
		{want: "v gradient: slice is too short", change: func(p *problem) { p.grad.V = p.grad.V[1:] }},
		{want: "bias gradient: slice is too short", change: func(p *problem) { p.grad.Bias = p.grad.Bias[1:] }},
		{
			want:   "relative bias gradient: slice is too short",
			change: func(p *problem) { p.grad.Relative = p.grad.Relative[1:] },
		},
		{
			want:   "forgetting gradient: slice is too short",
			change: func(p *problem) { p.grad.Forget.Key = p.grad.Forget.Key[1:] },
		},
		{want: "sinks gradient: slice is too short", change: func(p *problem) { p.grad.Sinks = p.grad.Sinks[1:] }},
	} {
		check(r, backward)
	}
}
