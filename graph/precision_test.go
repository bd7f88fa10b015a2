package graph_test

import (
	"hash"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// roundoff is the relative error of an operand rounded to 8 bits, plus the error of float32 sums.
const roundoff = 0x1p-8 + 1e-5

// product is an op of one product, linear in each of its two inputs.
type product struct {
	name string
	op   func(p graph.Precision) func(in G.Nodes) (*G.Node, error)
	a, b []int
}

func products() []product {
	type function = func(in G.Nodes) (*G.Node, error)
	two := func(of func(p graph.Precision, a, b *G.Node) (*G.Node, error)) func(p graph.Precision) function {
		return func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
			return func(in G.Nodes) (*G.Node, error) { return of(p, in[0], in[1]) }
		}
	}
	linear := func(p graph.Precision, x, w *G.Node) (*G.Node, error) { return p.Linear(x, w, nil) }
	return []product{
		{"MatMul of one matrix", two(graph.Precision.MatMul), []int{2, 5, 7}, []int{7, 11}},
		{"MatMul of matrices", two(graph.Precision.MatMul), []int{2, 5, 7}, []int{2, 7, 11}},
		{"Scores", two(graph.Precision.Scores), []int{2, 5, 7}, []int{2, 11, 7}},
		{"Linear", two(linear), []int{2, 5, 7}, []int{11, 7}},
	}
}

// run returns the result and the gradients of an op in a precision, on both machines.
func (p product) run(t *testing.T, of graph.Precision, dt tensor.Dtype, dout array, in ...array) result {
	e := express(t, p.op(of), inputs(in...), dt)
	e.differentiate(t, inputs(in...), dout, dt)
	ours, tape := e.onOurs(t), e.onTape(t)
	require.Equal(t, tape, ours)
	return ours
}

// singlePrecision returns normally distributed numbers of float32.
func singlePrecision(r *rand.Rand, shape ...int) array {
	return mapped(normal(r, shape...), func(v float64) float64 { return float64(float32(v)) })
}

func mapped(a array, f func(v float64) float64) array {
	b := zeros(a.shape...)
	for i, v := range a.v {
		b.v[i] = f(v)
	}
	return b
}

// toBFloat16 rounds to 8 bits, to nearest even.
func toBFloat16(a array) array {
	return mapped(a, func(v float64) float64 {
		m, e := math.Frexp(v)
		return math.Ldexp(math.RoundToEven(m*256)/256, e)
	})
}

// TestProductsInBFloat16: results and gradients are those of rounded operands, and so differ from float64's by no more
// than this rounding.
func TestProductsInBFloat16(t *testing.T) {
	for _, p := range products() {
		t.Run(p.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			a, b := singlePrecision(r, p.a...), singlePrecision(r, p.b...)
			dout := singlePrecision(r, express(t, p.op(graph.FullPrecision), inputs(a, b), tensor.Float64).out.Shape()...)
			got := p.run(t, graph.BFloat16, tensor.Float32, dout, a, b)
			rounded := p.run(t, graph.FullPrecision, tensor.Float64, toBFloat16(dout), toBFloat16(a), toBFloat16(b))
			exact := p.run(t, graph.FullPrecision, tensor.Float64, dout, a, b)
			size := p.run(t, graph.FullPrecision, tensor.Float64, mapped(dout, math.Abs), mapped(a, math.Abs),
				mapped(b, math.Abs))
			within := func(what string, got, rounded, exact, size array) {
				near(t, what, rounded, got, 1e-5)
				requireWithin(t, what, got, exact, mapped(size, func(v float64) float64 {
					return v * (math.Pow(1+roundoff, 2) - 1)
				}))
			}
			within("result", got.out, rounded.out, exact.out, size.out)
			for i := range got.grads {
				within("gradient", got.grads[i], rounded.grads[i], exact.grads[i], size.grads[i])
			}
		})
	}
}

// requireWithin fails unless every element is within its bound of the exact one, and at least one error is as large as
// only rounding to bfloat16 makes it.
func requireWithin(t *testing.T, what string, got, exact, bound array) {
	t.Helper()
	farthest := 0.0
	for i := range exact.v {
		far := math.Abs(got.v[i] - exact.v[i])
		require.LessOrEqual(t, far, bound.v[i], "%s: element %d: got %v, want %v", what, i, got.v[i], exact.v[i])
		farthest = max(farthest, far/bound.v[i])
	}
	require.Greater(t, farthest, 0.01, "%s: nothing is rounded", what)
}

// attentions returns the fused and the composed attention of one causal head.
var attentions = map[string]func(p graph.Precision) func(in G.Nodes) (*G.Node, error){
	"fused": func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			return fusedAttention(in[0], in[1], in[2], graph.AttentionConfig{Mask: mask.Causal{}, Precision: p})
		}
	},
	"composed": func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			out, _, err := graph.Attention(in[0], in[1], in[2], graph.AttentionConfig{Mask: mask.Causal{}, Precision: p})
			return out, err
		}
	},
	"composed, all keys": func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			out, _, err := graph.Attention(in[0], in[1], in[2], graph.AttentionConfig{Precision: p})
			return out, err
		}
	},
}

// attentionBounds returns how much rounding the operands of every product changes the output and the gradients of q, k
// and v, for one head with scale 1/√D. Each operand changes by a fraction u of itself, the scores therefore by at most
// δ, and a weight by a factor of at most exp(2δ).
func attentionBounds(q, k, v, dout array, causal bool) (out array, grads [3]array) {
	const u = roundoff
	T, S, D, width := q.axis(0), k.axis(0), q.axis(1), v.axis(1)
	scale := 1 / math.Sqrt(float64(D))
	out = zeros(T, width)
	grads = [3]array{zeros(T, D), zeros(S, D), zeros(S, width)}
	for t := range T {
		seen := S
		if causal {
			seen = t + 1
		}
		w, total, delta := make([]float64, seen), 0.0, 0.0
		for s := range w {
			score, size := 0.0, 0.0
			for d := range D {
				score, size = score+scale*q.at(t, d)*k.at(s, d), size+scale*math.Abs(q.at(t, d)*k.at(s, d))
			}
			w[s] = math.Exp(score)
			total, delta = total+w[s], max(delta, (math.Pow(1+u, 2)-1)*size)
		}
		factor := math.Exp(2 * delta)
		dp, size := make([]float64, seen), make([]float64, seen) // of the weights, and Σ|dout·v|
		mean, meanSize := 0.0, 0.0
		for s := range w {
			w[s] /= total
			for d := range width {
				product := dout.at(t, d) * v.at(s, d)
				dp[s], size[s] = dp[s]+product, size[s]+math.Abs(product)
				out.v[out.i(t, d)] += (factor*math.Pow(1+u, 2) - 1) * w[s] * math.Abs(v.at(s, d))
				grads[2].v[grads[2].i(s, d)] += (factor*math.Pow(1+u, 2) - 1) * w[s] * math.Abs(dout.at(t, d))
			}
			mean, meanSize = mean+w[s]*dp[s], meanSize+w[s]*size[s]
		}
		for s := range w {
			// dscore = w·(dp − mean): w changes by the factor, dp by two operands, mean by three operands and the factor.
			far := math.Abs(dp[s]-mean) + (math.Pow(1+u, 2)-1)*size[s] + (factor*math.Pow(1+u, 3)-1)*meanSize
			dscore := w[s] * (dp[s] - mean)
			moved := w[s] * factor * far // bound of the term
			off := moved - math.Abs(dscore)
			for d := range D {
				bound := scale * (math.Pow(1+u, 2)*(math.Abs(dscore)+off) - math.Abs(dscore))
				grads[0].v[grads[0].i(t, d)] += bound * math.Abs(k.at(s, d))
				grads[1].v[grads[1].i(s, d)] += bound * math.Abs(q.at(t, d))
			}
		}
	}
	return out, grads
}

// roundedAttention returns the output and the gradients of one causal head with scale 1/√D in which the operands of
// every product are rounded. For the output, the operands exp(score − maximum) are rounded, but their sums are not.
func roundedAttention(q, k, v, dout array) (out array, grads [3]array) {
	q, k, v, dout = toBFloat16(q), toBFloat16(k), toBFloat16(v), toBFloat16(dout)
	T, D, width := q.axis(0), q.axis(1), v.axis(1)
	scale := 1 / math.Sqrt(float64(D))
	out, grads = zeros(T, width), [3]array{zeros(T, D), zeros(T, D), zeros(T, width)}
	dot := func(x array, i int, y array, j int) (sum float64) {
		for d := range x.axis(1) {
			sum += x.at(i, d) * y.at(j, d)
		}
		return sum
	}
	add := func(x array, i int, factor float64, y array, j int) {
		for d := range x.axis(1) {
			x.v[x.i(i, d)] += factor * y.at(j, d)
		}
	}
	for t := range T {
		scores, most, total := zeros(t+1), math.Inf(-1), 0.0
		for s := range scores.v {
			scores.v[s] = scale * dot(q, t, k, s)
			most = max(most, scores.v[s])
		}
		weights := mapped(scores, func(v float64) float64 { return math.Exp(v - most) })
		for _, v := range weights.v {
			total += v
		}
		for s, v0 := range toBFloat16(weights).v {
			add(out, t, v0/total, v, s)
		}
		weights = mapped(weights, func(v float64) float64 { return v / total })
		delta, dscores := dot(dout, t, out, t), zeros(t+1)
		for s := range dscores.v {
			dscores.v[s] = weights.v[s] * (dot(dout, t, v, s) - delta)
		}
		weights, dscores = toBFloat16(weights), toBFloat16(dscores)
		for s := range scores.v {
			add(grads[0], t, scale*dscores.v[s], k, s)
			add(grads[1], s, scale*dscores.v[s], q, t)
			add(grads[2], s, weights.v[s], dout, t)
		}
	}
	return out, grads
}

// TestAttentionInBFloat16: the output and the gradients differ from float64's by no more than the rounding of the
// operands.
func TestAttentionInBFloat16(t *testing.T) {
	for name, op := range attentions {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			const T, D, width = 23, 7, 5
			q, k := singlePrecision(r, T, D), singlePrecision(r, T, D)
			v, dout := singlePrecision(r, T, width), singlePrecision(r, T, width)
			run := product{op: op}.run
			got := run(t, graph.BFloat16, tensor.Float32, dout, q, k, v)
			exact := run(t, graph.FullPrecision, tensor.Float64, dout, q, k, v)
			if name == "fused" {
				out, grads := roundedAttention(q, k, v, dout)
				near(t, "out of rounded operands", out, got.out, 1e-5)
				for i := range grads {
					near(t, "gradient of rounded operands", grads[i], got.grads[i], 1e-5)
				}
			}
			out, grads := attentionBounds(q, k, v, dout, name != "composed, all keys")
			requireWithin(t, "out", got.out, exact.out, out)
			for i, of := range "qkv" {
				requireWithin(t, string(of), got.grads[i], exact.grads[i], grads[i])
			}
		})
	}
}

// linearLossIn returns the loss of logits x·wᵀ in a precision.
func linearLossIn(targets array) func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
	return func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			ids := node(in[0].Graph(), "targets", targets, tensor.Int64)
			return graph.LinearCrossEntropy(in[0], in[1], ids, graph.LinearCrossEntropyConfig{WithX: true, Precision: p})
		}
	}
}

// roundedLinearLoss returns the mean loss of logits x·wᵀ and the gradients by x and w, all of rounded operands.
func roundedLinearLoss(x, w, targets array) [3]array {
	x, w = toBFloat16(x), toBFloat16(w)
	N, E, V := x.axis(0), x.axis(1), w.axis(0)
	loss, g := array{nil, []float64{0}}, zeros(N, V)
	for i := range N {
		total := 0.0
		for j := range V {
			logit := 0.0
			for e := range E {
				logit += x.at(i, e) * w.at(j, e)
			}
			g.v[g.i(i, j)] = math.Exp(logit)
			total += math.Exp(logit)
		}
		for j := range V {
			g.v[g.i(i, j)] /= total
		}
		right := g.i(i, int(targets.v[i]))
		loss.v[0] -= math.Log(g.v[right]) / float64(N)
		g.v[right]--
	}
	g = toBFloat16(mapped(g, func(v float64) float64 { return v / float64(N) }))
	dx, dw := zeros(N, E), zeros(V, E)
	for i := range N {
		for j := range V {
			for e := range E {
				dx.v[dx.i(i, e)] += g.at(i, j) * w.at(j, e)
				dw.v[dw.i(j, e)] += g.at(i, j) * x.at(i, e)
			}
		}
	}
	return [3]array{loss, dx, dw}
}

// TestLinearCrossEntropyInBFloat16: the loss and the gradients differ from float64's by no more than the rounding of
// the operands.
func TestLinearCrossEntropyInBFloat16(t *testing.T) {
	const u, N, E, V = roundoff, 13, 7, 11
	r := rand.New(rand.NewPCG(5, 6))
	x, w, targets := singlePrecision(r, N, E), singlePrecision(r, V, E), zeros(N)
	for i := range targets.v {
		targets.v[i] = float64(r.IntN(V))
	}
	one := array{nil, []float64{1}}
	run := product{op: linearLossIn(targets)}.run
	got := run(t, graph.BFloat16, tensor.Float32, one, x, w)
	exact := run(t, graph.FullPrecision, tensor.Float64, one, x, w)
	loss, dx, dw := 0.0, zeros(N, E), zeros(V, E)
	for i := range N {
		p, total, delta := make([]float64, V), 0.0, 0.0
		for j := range p {
			logit, size := 0.0, 0.0
			for e := range E {
				logit, size = logit+x.at(i, e)*w.at(j, e), size+math.Abs(x.at(i, e)*w.at(j, e))
			}
			p[j] = math.Exp(logit)
			total, delta = total+p[j], max(delta, (math.Pow(1+u, 2)-1)*size)
		}
		loss += 2 * delta / N
		for j := range p {
			p[j] /= total
			right := 0.0
			if j == int(targets.v[i]) {
				right = 1
			}
			g := math.Abs(p[j]-right) / N
			off := (math.Exp(2*delta) - 1) * p[j] / N
			for e := range E {
				bound := math.Pow(1+u, 2)*(g+off) - g
				dx.v[dx.i(i, e)] += bound * math.Abs(w.at(j, e))
				dw.v[dw.i(j, e)] += bound * math.Abs(x.at(i, e))
			}
		}
	}
	rounded := roundedLinearLoss(x, w, targets)
	near(t, "loss of rounded operands", rounded[0], got.out, 1e-5)
	near(t, "x of rounded operands", rounded[1], got.grads[0], 1e-5)
	near(t, "weight of rounded operands", rounded[2], got.grads[1], 1e-5)
	require.InDelta(t, exact.out.v[0], got.out.v[0], loss)
	require.NotEqual(t, exact.out.v[0], got.out.v[0])
	requireWithin(t, "x", got.grads[0], exact.grads[0], dx)
	requireWithin(t, "weight", got.grads[1], exact.grads[1], dw)
}

// settings is a hash that stores what is written to it: all settings of an op.
type settings struct {
	hash.Hash
	strings.Builder
}

func (s *settings) Write(p []byte) (int, error) { return s.Builder.Write(p) }
func (s *settings) Reset()                      { s.Builder.Reset() }

// opsWith returns the ops before the nodes that have a setting.
func opsWith(nodes G.Nodes, setting string) (names []string) {
	for _, n := range nodes[0].Graph().SubgraphRoots(nodes...).AllNodes() {
		if n.Op() == nil {
			continue
		}
		s := &settings{Hash: fnv.New32a()}
		n.Op().WriteHash(s)
		if strings.Contains(s.String(), setting) {
			names = append(names, n.Op().String())
		}
	}
	return names
}

// TestPrecisionIsInTheHash: an op in another precision is another node, and so are the ops of its gradient.
func TestPrecisionIsInTheHash(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	ops := map[string]product{"LinearCrossEntropy": {op: linearLossIn(zeros(5)), a: []int{5, 3}, b: []int{7, 3}}}
	for _, p := range products() {
		ops[p.name] = p
	}
	for name, op := range attentions {
		ops[name] = product{op: func(p graph.Precision) func(in G.Nodes) (*G.Node, error) {
			return func(in G.Nodes) (*G.Node, error) { return op(p)(G.Nodes{in[0], in[1], in[1]}) }
		}, a: []int{5, 7}, b: []int{5, 7}}
	}
	for name, p := range ops {
		g := G.NewGraph()
		in := G.Nodes{node(g, "a", normal(r, p.a...), tensor.Float32), node(g, "b", normal(r, p.b...), tensor.Float32)}
		of := func(precision graph.Precision) (nodes G.Nodes) {
			out, err := p.op(precision)(in)
			require.NoError(t, err)
			loss := out
			if !out.IsScalar() {
				loss = G.Must(G.Sum(out))
			}
			grads, err := G.Grad(loss, in...)
			require.NoError(t, err)
			return append(grads, out)
		}
		full, bf16, again := of(graph.FullPrecision), of(graph.BFloat16), of(graph.BFloat16)
		require.Empty(t, opsWith(bf16, "Precision:0"), name)
		require.Empty(t, opsWith(full, "Precision:1"), name)
		require.NotEmpty(t, opsWith(bf16, "Precision:1"), name)
		require.Same(t, bf16[len(bf16)-1], again[len(again)-1], name)
		for i := range full {
			require.NotEqual(t, full[i].Hashcode(), bf16[i].Hashcode(), "%s: node %d", name, i)
		}
	}
}

// TestBFloat16IsTheSameForAnyThreads: the bits do not depend on the number of threads.
func TestBFloat16IsTheSameForAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	q, k := singlePrecision(r, 300, 16), singlePrecision(r, 300, 16)
	v, dout := singlePrecision(r, 300, 16), singlePrecision(r, 300, 16)
	a, b, dc := singlePrecision(r, 200, 150), singlePrecision(r, 150, 100), singlePrecision(r, 200, 100)
	var first [2]result
	for _, threads := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(threads)
		got := [2]result{
			product{op: attentions["fused"]}.run(t, graph.BFloat16, tensor.Float32, dout, q, k, v),
			products()[0].run(t, graph.BFloat16, tensor.Float32, dc, a, b),
		}
		runtime.GOMAXPROCS(before)
		if threads == 1 {
			first = got
		}
		require.Equal(t, first, got, "%d threads", threads)
	}
}

func TestPrecisionErrors(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", zeros(2, 2), tensor.Float64)
	for _, c := range []struct {
		err  func() (*G.Node, error)
		want string
	}{
		{func() (*G.Node, error) { return graph.BFloat16.MatMul(x, x) },
			"graph: MatMul: precision: got bf16 of float64, want it of float32"},
		{func() (*G.Node, error) {
			return fusedAttention(x, x, x, graph.AttentionConfig{Precision: 7})
		}, "graph: FusedAttention: precision: got Precision(7), want FullPrecision or BFloat16"},
		{func() (*G.Node, error) { _, err := graph.ParsePrecision("fp8"); return nil, err },
			`graph: precision: got "fp8", want full or bf16`},
		{func() (*G.Node, error) { return nil, graph.BFloat16.Check(tensor.Float64) },
			"graph: precision: got bf16 of float64, want it of float32"},
	} {
		_, err := c.err()
		require.EqualError(t, err, c.want)
	}
	t.Setenv(simd.BF16Variable, "emulated")
	require.NoError(t, graph.BFloat16.Check(tensor.Float32))
	t.Setenv(simd.BF16Variable, "fast")
	require.EqualError(t, graph.BFloat16.Check(tensor.Float32),
		`graph: precision: ATTENTION_BF16: got "fast", want emulated or nothing`)
	require.NoError(t, graph.FullPrecision.Check(tensor.Float64))
}
