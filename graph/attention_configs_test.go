package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/gradcheck"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// Both forms of attention agree with the definition, for any config: values, gradients, each
// batch alone, and queries that see no key.
func TestAttentionOfAnyConfig(t *testing.T) {
	for range 4 { // multiplies the number of checks that rapid makes
		rapid.Check(t, func(rt *rapid.T) {
			a := drawAttention(rt)
			if a.sinks.name == "" && rapid.IntRange(0, 3).Draw(rt, "sigmoid") == 3 {
				a.c.Sigmoid, a.c.SigmoidBias = true, rapid.SampledFrom([]float64{0, -2.5}).Draw(rt, "sigmoid bias")
			}
			if !a.huge && rapid.IntRange(0, 3).Draw(rt, "score func") == 3 {
				a.c.Score = wave
			}
			a.check(shrinking{t, rt})
		})
	}
}

func (a drawnAttention) check(t testing.TB) {
	t.Helper()
	out, weights, blind := a.naive(a.dropped(t))
	dout := normal(rand.New(rand.NewPCG(9, 9)), out.shape...)
	composed, fused := a.run(t, false, dout), a.run(t, true, dout)
	near(t, "composed out", out, composed.out, a.tol)
	near(t, "composed weights", weights, composed.weights, a.tol)
	near(t, "fused out", out, fused.out, a.tol)
	for i, name := range a.names() {
		near(t, "fused: gradient of "+name, composed.grads[i], fused.grads[i], a.gradientTol(name))
	}
	a.checkGradients(t)
	a.checkBlind(t, blind, dout)
	if a.c.Dropout.P == 0 { // otherwise a batch alone would drop other weights
		a.checkBatches(t, composed, dout, false)
		a.checkBatches(t, fused, dout, true)
	}
}

// shrinking is a test that reports its failures to rapid, which then looks for a smaller case.
type shrinking struct {
	testing.TB
	rt *rapid.T
}

func (s shrinking) Helper()                      {}
func (s shrinking) Errorf(f string, args ...any) { s.rt.Errorf(f, args...) }
func (s shrinking) Fatalf(f string, args ...any) { s.rt.Fatalf(f, args...) }
func (s shrinking) FailNow()                     { s.rt.FailNow() }

// gradientTol is the tolerance for float32's rounding of huge scores: half a unit in the last place of the log Σexp of
// a row is 5e-4, and the gradients of q and k are sums of numbers up to 100.
func (a drawnAttention) gradientTol(name string) float64 {
	switch {
	case !a.huge || a.dt == tensor.Float64:
		return 10 * a.tol
	case name == "q" || name == "k":
		return 0.1
	}
	return 2e-3
}

// attended holds the values of a run of an attention.
type attended struct {
	result
	weights array // of the composed form
}

// run computes one form and its gradients.
func (a drawnAttention) run(t testing.TB, fused bool, dout array) attended {
	t.Helper()
	e, weights := a.express(t, fused)
	e.differentiate(t, make([]input, len(e.in)), dout, a.dt)
	if fused {
		return attended{result: e.onOurs(t)}
	}
	e.grads = append(e.grads, weights) // any other node whose value is wanted
	r := e.onOurs(t)
	n := len(r.grads) - 1
	return attended{result{r.out, r.grads[:n]}, r.grads[n]}
}

// dropped returns the dropout's factors of the weights: the dropout of ones.
func (a drawnAttention) dropped(t testing.TB) array {
	ones := zeros(a.z.shape(a.c.ExtraKeys)...)
	for i := range ones.v {
		ones.v[i] = 1
	}
	if a.c.Dropout.P == 0 {
		return ones
	}
	op := dropout(a.c.Dropout.P, a.c.Dropout.Site)
	return express(t, op, append(inputs(ones), key(a.key)), tensor.Float64).onOurs(t).out
}

// checkGradients compares the gradients with finite differences where these are meaningful: in float64, and not for
// huge scores, whose weights are nearly step functions.
func (a drawnAttention) checkGradients(t testing.TB) {
	t.Helper()
	if a.huge || a.dt != tensor.Float64 || a.z.T*a.z.S > 100 {
		return
	}
	for _, fused := range []bool{false, true} {
		e, _ := a.express(t, fused)
		report, err := gradcheck.Check(e.out, e.in, gradcheck.Config{Mode: gradcheck.OneDirection, Seed: uint64(len(a.q.v))})
		require.NoError(t, err)
		require.NoError(t, report.Err())
	}
}

// checkBlind checks that queries that see no key have weights, outputs and gradients of exactly 0, and add nothing to
// the gradients of keys and values.
func (a drawnAttention) checkBlind(t testing.TB, blind []bool, dout array) {
	t.Helper()
	if !slices.Contains(blind, true) {
		return
	}
	only := array{dout.shape, slices.Clone(dout.v)}
	for row, isBlind := range blind {
		if !isBlind {
			clear(a.row(only, row))
		}
	}
	for _, fused := range []bool{false, true} {
		got := a.run(t, fused, only)
		for i, g := range got.grads {
			require.Equal(t, make([]float64, len(g.v)), positive(g.v), "gradient of %s", a.names()[i])
		}
		for row, isBlind := range blind {
			if !isBlind {
				continue
			}
			out := a.row(got.out, row)
			require.Equal(t, make([]float64, len(out)), out)
			if !fused {
				w := got.weights.rows()
				require.Equal(t, make([]float64, w.shape[1]), w.v[row*w.shape[1]:][:w.shape[1]])
			}
		}
	}
}

// positive replaces −0 by 0, because testify distinguishes them.
func positive(x []float64) []float64 {
	y := slices.Clone(x)
	for i := range y {
		y[i] += 0
	}
	return y
}

// row returns the part of an output that belongs to row (b, h, t).
func (a drawnAttention) row(out array, row int) []float64 {
	if a.c.Heads == 0 {
		n := out.axis(-1)
		return out.v[row*n:][:n]
	}
	b, h, t, n := row/a.z.T/a.z.H, row/a.z.T%a.z.H, row%a.z.T, out.axis(-1)/a.z.H
	return out.v[((b*a.z.T+t)*a.z.H+h)*n:][:n]
}

// checkBatches checks that each batch alone gives the same bits, and that the gradient of an array that all batches
// share is the sum over the batches, up to rounding.
func (a drawnAttention) checkBatches(t testing.TB, all attended, dout array, fused bool) {
	t.Helper()
	n := a.z.B()
	if n == 1 {
		return
	}
	shared := make([]array, len(all.grads))
	for b := range n {
		one := a.batch(b)
		got := one.run(t, fused, a.part("out", dout, b))
		require.Equal(t, bits(a.part("out", all.out, b)), bits(got.out), "out of batch %d", b)
		for i, g := range all.grads {
			part := a.part(a.names()[i], g, b)
			if len(part.v) < len(g.v) {
				require.Equal(t, bits(part), bits(got.grads[i]), "batch %d: gradient of %s", b, a.names()[i])
				continue
			}
			if b == 0 {
				shared[i] = g.like()
			}
			for j, v := range got.grads[i].v {
				shared[i].v[j] += v
			}
		}
	}
	for i, sum := range shared {
		if sum.v != nil {
			near(t, "sum over batches: gradient of "+a.names()[i], sum, all.grads[i], a.gradientTol(a.names()[i]))
		}
	}
}

// The gradient of a bias that batches, heads and queries share is a sum over all of them. It has the same bits in every
// run, however the work was split.
func TestGradientsOfSharedBiases(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, in := range map[string][]input{
		"relative bias": inputs(normal(r, 2, 131, 12), normal(r, 2, 131, 12), normal(r, 2, 131, 12), normal(r, 1, 261)),
		"bias":          inputs(normal(r, 2, 131, 12), normal(r, 2, 131, 12), normal(r, 2, 131, 12), normal(r, 131)),
	} {
		op := func(attend func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error)) expression {
			e := express(t, func(in G.Nodes) (*G.Node, error) {
				c := graph.AttentionConfig{Heads: 4, RelativeBias: in[3]}
				if name == "bias" {
					c = graph.AttentionConfig{Heads: 4, Bias: in[3]}
				}
				return attend(in[0], in[1], in[2], c)
			}, in, tensor.Float64)
			e.differentiate(t, in, normal(rand.New(rand.NewPCG(9, 9)), 2, 131, 12), tensor.Float64)
			return e
		}
		want := op(func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
			return context(graph.Attention(q, k, v, c))
		}).onOurs(t)
		fused := op(fusedAttention)
		first := fused.onOurs(t)
		nearResult(t, name, want, first, 1e-11)
		for range 20 {
			require.Equal(t, bits(first.grads[3]), bits(fused.onOurs(t).grads[3]), name)
		}
	}
}
