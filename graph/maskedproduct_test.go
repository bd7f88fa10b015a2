package graph_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A hidden key influences nothing, even if it holds NaN or ∞. A visible NaN or ∞, or one in a sink, reaches the rows
// that see it, even if dropout drops its weight. Both forms agree with the definition, in which sums run over the
// visible keys alone. Numbers that no NaN reaches keep their bits.
func TestAttentionOfNumbersThatAreNotFinite(t *testing.T) {
	for range 4 { // multiplies the number of checks that rapid makes
		rapid.Check(t, func(rt *rapid.T) {
			d := newDrawing(rt)
			clean := drawAttention(rt)
			if clean.huge {
				rt.Skip("weights of 0 and of 1 only")
			}
			clean.c.Sparse, clean.blocks = nil, nil // a NaN would change which blocks are chosen
			dout := normal(d.r, clean.q.lead(1, max(clean.c.Heads, 1)*clean.v.axis(-1)/clean.keyHeads())...)
			a, bad, onlyNaN := clean.planted(d, dout)
			a.checkSeen(shrinking{t, rt}, bad, clean, dout, onlyNaN)
		})
	}
}

// planted returns the attention and the gradient of its output, with non-finite numbers in some places.
func (a drawnAttention) planted(d drawing, dout array) (_ drawnAttention, _ array, onlyNaN bool) {
	a.q.v, a.k.v, a.v.v, dout.v = slices.Clone(a.q.v), slices.Clone(a.k.v), slices.Clone(a.v.v), slices.Clone(dout.v)
	of := [][]float64{a.k.v, a.v.v, a.k.v, a.v.v, a.q.v, dout.v}
	if a.bias.name != "" {
		a.bias.v = slices.Clone(a.bias.v)
		of = append(of, a.bias.v, a.bias.v)
	}
	for _, x := range []*addend{&a.relative, &a.sinks} {
		if x.name != "" {
			x.v = slices.Clone(x.v)
			of = append(of, x.v)
		}
	}
	onlyNaN = true
	for range d.int("planted", 1, 3) {
		x := pick(d, "number", nan, nan, inf, -inf)
		to := pick(d, "array", of...)
		to[d.r.IntN(len(to))] = x
		onlyNaN = onlyNaN && math.IsNaN(x)
	}
	a.bias, a.relative, a.sinks = a.bias.added(), a.relative.added(), a.sinks.added()
	return a, dout, onlyNaN
}

func (a drawnAttention) checkSeen(t testing.TB, dout array, clean drawnAttention, cleanDout array, onlyNaN bool) {
	t.Helper()
	for _, fused := range []bool{false, true} {
		want := a.overSeen(clean.dropped(t), dout, fused)
		got, before := a.run(t, fused, dout).result, clean.run(t, fused, cleanDout).result
		requireSame(t, a.onTape(t, fused, dout), got)
		form := map[bool]string{false: "composed", true: "fused"}[fused]
		check := func(what string, want, got, before array, tol float64) {
			require.True(t, slices.Equal(want.shape, got.shape), what)
			for i, x := range want.v {
				at := fmt.Sprintf("%s: %s, element %d: got %v, want %v", form, what, i, got.v[i], x)
				if notFinite(x) {
					require.True(t, notFinite(got.v[i]), at)
					continue
				}
				require.InDelta(t, x, got.v[i], tol+tol*math.Abs(x), at)
				if onlyNaN {
					require.Equal(t, math.Float64bits(before.v[i]), math.Float64bits(got.v[i]), at)
				}
			}
		}
		check("out", want.out, got.out, before.out, a.tol)
		for i, name := range a.names() {
			check("gradient of "+name, want.grads[i], got.grads[i], before.grads[i], a.gradientTol(name))
		}
	}
}

// onTape runs one form on Gorgonia's machine.
func (a drawnAttention) onTape(t testing.TB, fused bool, dout array) result {
	t.Helper()
	e, _ := a.express(t, fused)
	e.differentiate(t, make([]input, len(e.in)), dout, a.dt)
	return e.onTape(t)
}

// requireSame fails the test unless two results have the same numbers; all NaNs count as equal.
func requireSame(t testing.TB, want, got result) {
	t.Helper()
	for i, x := range append([]array{want.out}, want.grads...) {
		y := append([]array{got.out}, got.grads...)[i]
		same := slices.EqualFunc(x.v, y.v, func(a, b float64) bool { return a == b || a != a && b != b })
		require.True(t, same, "result %d: got %v, want %v", i, y.v, x.v)
	}
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// overSeen computes attention and its gradients by their definitions, with sums over the
// keys that a query sees and over the queries that see a key:
//
//	out[t] = Σ w[s]·v[s]    dv[s] = Σ w[s]·dout[t]    w[s] = p[s]·keep[s]
//	dscore[s] = p[s]·(dp[s] − Σ p·dp)                 dp[s] = keep[s]·(dout[t]·v[s])
//	dq[t] = Σ dx[s]·k[s]    dk[s] = Σ dx[s]·q[t]      dx[s] = scale·slope[s]·dscore[s]
//	dsink = −Σ p[sink]·Σ p·dp
//
// In the composed form a row of −∞ passes no gradient to its sink, although Σ p·dp may be 0·NaN.
func (a drawnAttention) overSeen(keep, dout array, fused bool) result {
	z, heads, keyHeads := a.z, a.c.Heads, a.keyHeads()
	q, k, v, do := matrices(a.q, heads), matrices(a.k, keyHeads), matrices(a.v, keyHeads), matrices(dout, heads)
	if heads == 0 {
		k, v = matrices(a.k, 0), matrices(a.v, 0)
	}
	out, dq, dk, dv := zeros(do.shape...), zeros(q.shape...), zeros(k.shape...), zeros(v.shape...)
	dbias, drelative, dsinks := zeros(a.bias.shape...), zeros(a.relative.shape...), zeros(a.sinks.shape...)
	dgates := zeros(a.gates.shape...)
	keep = keep.matrices()
	for row := range q.shape[0] * z.T {
		n, t := row/z.T, row%z.T
		b, h, m := n/z.H, n%z.H, n/(max(heads, 1)/keyHeads)
		var seen []int
		var p, slope, dp []float64
		delta := 0.0
		for s := range k.shape[1] {
			if a.sees(b, h, t, s) {
				x, dx := a.scoreOf(dotOf(q, n, t, k, m, s), b, h, t, s)
				seen, p, slope = append(seen, s), append(p, x), append(slope, dx)
			}
		}
		reachesSink := fused || slices.ContainsFunc(p, func(score float64) bool { return score != -inf })
		sink := softmaxOf(p, a.sinks.or(-inf, h))
		for i, s := range seen {
			dp = append(dp, keep.at(n, t, s)*dotOf(do, n, t, v, m, s))
			delta += p[i] * dp[i]
			addRow(out, n, t, p[i]*keep.at(n, t, s), v, m, s)
			addRow(dv, m, s, p[i]*keep.at(n, t, s), do, n, t)
		}
		if a.sinks.name != "" && reachesSink {
			dsinks.v[h] -= sink * delta
		}
		for i, s := range seen {
			dscore := p[i] * (dp[i] - delta)
			if s < z.S && a.bias.name != "" {
				dbias.v[z.index(dbias, b, h, t, s)] += dscore
			}
			if s < z.S && a.relative.name != "" {
				drelative.v[drelative.i(h%drelative.shape[0], t-s+z.S-1)] += dscore
			}
			if s < z.S && a.gates.name != "" { // a NaN also reaches all earlier gates: they are in the sums for the query and the key
				for i := range t + z.S - z.T + 1 {
					*a.gate(dgates, b, h, i) += dscore
				}
				for i := range s + 1 {
					*a.gate(dgates, b, h, i) -= dscore
				}
			}
			dx := a.scale() * slope[i] * dscore
			addRow(dq, n, t, dx, k, m, s)
			addRow(dk, m, s, dx, q, n, t)
		}
	}
	r := result{out: merged(out, dout.shape, heads), grads: []array{
		merged(dq, a.q.shape, heads), merged(dk, a.k.shape, min(heads, keyHeads)),
		merged(dv, a.v.shape, min(heads, keyHeads)),
	}}
	for _, name := range a.names()[3:] {
		r.grads = append(r.grads, map[string]array{"bias": dbias, "relative bias": drelative, "sinks": dsinks,
			"log gates": dgates}[name])
	}
	return r
}

// matrices returns x with all leading axes as one; heads that are side by side get an axis first.
func matrices(x array, heads int) array {
	if heads > 0 {
		x = naiveSplitHeads(x, heads)
	}
	return x.matrices()
}

// merged undoes matrices.
func merged(x array, shape []int, heads int) array {
	if heads > 0 {
		x = naiveMergeHeads(array{append([]int{x.shape[0] / heads, heads}, x.shape[1:]...), x.v})
	}
	return array{shape, x.v}
}

// addRow adds f times row j of matrix m of y to row i of matrix n of x.
func addRow(x array, n, i int, f float64, y array, m, j int) {
	for d := range x.shape[2] {
		x.v[x.i(n, i, d)] += f * y.at(m, j, d)
	}
}

// softmaxOf turns scores into weights beside a sink, and returns the sink's weight. If all scores are −∞, the row sees
// nothing and the sink does not count.
func softmaxOf(x []float64, sink float64) float64 {
	top, sum := -inf, 0.0
	for _, v := range x {
		top = math.Max(top, v)
	}
	if math.IsInf(top, -1) {
		clear(x)
		return 0
	}
	top = math.Max(top, sink)
	for i, v := range x {
		x[i] = math.Exp(v - top)
		sum += x[i]
	}
	sum += math.Exp(sink - top)
	for i := range x {
		x[i] /= sum
	}
	return math.Exp(sink-top) / sum
}
