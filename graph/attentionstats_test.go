package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// The statistics of any attention equal those of the weights by its definition. Requesting them changes no bit of the
// output and of the gradients.
func TestAttentionStatsOfAnyConfig(t *testing.T) {
	for range 4 { // multiplies the number of checks that rapid makes
		rapid.Check(t, func(rt *rapid.T) {
			d := newDrawing(rt)
			a := drawAttention(rt)
			w := watching{
				offset: d.int("offset", -2, 3), height: d.int("height", 1, 9), width: d.int("width", 1, 9),
			}
			a.checkStats(shrinking{t, rt}, w)
		})
	}
}

// watching lists the statistics that are requested.
type watching struct {
	offset, height, width int
}

var statisticNames = []string{
	"lse", "max score", "max product", "entropy", "first", "own", "previous", "sink", "distance",
	"largest", "largest, even",
}

// nodes returns the statistics in the order of statisticNames.
func (w watching) nodes(t testing.TB, s *graph.AttentionStats) G.Nodes {
	t.Helper()
	largest, err := s.Largest(w.height, w.width)
	require.NoError(t, err)
	even, err := s.LargestTo(w.height, w.width)
	require.NoError(t, err)
	return G.Nodes{s.LogSumExp, s.MaxScore, s.MaxProduct, s.Entropy, s.First, s.Own, s.Previous, s.Sink, s.Distance,
		largest, even}
}

func (a drawnAttention) checkStats(t testing.TB, w watching) {
	t.Helper()
	e, c := a.arguments(t)
	var stats *graph.AttentionStats
	var err error
	e.out, stats, err = fusedAttentionStats(e.in[0], e.in[1], e.in[2], c, w.offset)
	require.NoError(t, err)
	dout := normal(rand.New(rand.NewPCG(9, 9)), e.out.Shape()...)
	e.differentiate(t, make([]input, len(e.in)), dout, a.dt)
	gradients := len(e.grads)
	e.grads = append(e.grads, w.nodes(t, stats)...)
	got, plain := e.onOurs(t), a.run(t, true, dout)
	for i, g := range append([]array{plain.out}, plain.grads...) {
		name, of := append([]string{"out"}, a.names()...)[i], append([]array{got.out}, got.grads...)[i]
		if a.c.Sparse != nil { // the kernel reads other tiles then
			near(t, name, g, of, a.gradientTol(name))
			continue
		}
		require.Equal(t, bits(g), bits(of), name)
	}
	for i, want := range a.naiveStats(w) {
		near(t, statisticNames[i], want, got.grads[gradients+i], a.tol)
	}
}

// naiveStats computes the statistics from the weights before dropout, by their definition.
func (a drawnAttention) naiveStats(w watching) []array {
	ones := zeros(a.z.shape(a.c.ExtraKeys)...)
	for i := range ones.v {
		ones.v[i] = 1
	}
	_, weights, _ := a.naive(ones)
	S := weights.axis(-1)
	q, k := a.products()
	var stats []array
	for range 9 {
		stats = append(stats, zeros(weights.shape[:len(weights.shape)-1]...))
	}
	for row := range stats[0].v {
		b, h, t := row/a.z.T/a.z.H, row/a.z.T%a.z.H, row%a.z.T
		p := weights.v[row*S:][:S]
		for i, x := range a.rowStats(p, q, k, b, h, t, w.offset) {
			stats[i].v[row] = x
		}
	}
	sized := cells{
		rows: (a.z.T + w.height - 1) / w.height, columns: (S + w.width - 1) / w.width,
		row: func(t int) int { return t / w.height }, column: func(s int) int { return s / w.width },
	}
	even := cells{rows: min(a.z.T, w.height), columns: min(S, w.width)}
	even.row = func(t int) int { return t * even.rows / a.z.T }
	even.column = func(s int) int { return s * even.columns / S }
	return append(stats, naiveLargest(weights, sized), naiveLargest(weights, even))
}

// products returns queries and keys by matrix; shared heads are repeated.
func (a drawnAttention) products() (q, k array) {
	q, k = a.q, a.k
	if a.c.Heads > 0 {
		q = naiveSplitHeads(q, a.c.Heads)
		k = naiveRepeatHeads(naiveSplitHeads(k, a.keyHeads()), a.c.Heads/a.keyHeads())
	}
	return q.matrices(), k.matrices()
}

// rowStats returns the statistics of the weights p of a query.
func (a drawnAttention) rowStats(p []float64, q, k array, b, h, t, offset int) [9]float64 {
	score, product := math.Inf(-1), math.Inf(-1)
	var scores []float64
	entropy, share, distance := 0., 1., 0.
	for s, weight := range p {
		distance += weight * math.Abs(float64(t+offset-s))
		x := a.score(q, k, b, h, t, s)
		score, scores = max(score, x), append(scores, x)
		if a.sees(b, h, t, s) {
			n := b*a.z.H + h
			product = max(product, a.scale()*dotOf(q, n, t, k, n, s))
		}
		if weight > 0 {
			entropy -= weight * math.Log(weight)
		}
		share -= weight
	}
	sink := a.sinks.or(math.Inf(-1), h)
	top, sum := max(score, sink), 0.
	for _, x := range append(scores, sink) {
		if top > math.Inf(-1) {
			sum += math.Exp(x - top)
		}
	}
	if a.sinks.name == "" || math.IsInf(sink, -1) {
		share = 0
	}
	weight := func(s int) float64 {
		if s < 0 || s >= a.z.S {
			return 0
		}
		return p[s]
	}
	return [9]float64{top + math.Log(sum), score, product, entropy, p[0], weight(t + offset), weight(t + offset - 1),
		share, distance}
}

// cells are the cells of queries and keys.
type cells struct {
	rows, columns int
	row, column   func(at int) int
}

// naiveLargest returns the largest weight of each cell of weights (…, T, S).
func naiveLargest(weights array, by cells) array {
	w := weights.matrices()
	pooled := weights.like(by.rows, by.columns)
	p := pooled.matrices()
	for n := range p.shape[0] {
		all := make([][]float64, by.rows*by.columns)
		for t := range w.shape[1] {
			for s := range w.shape[2] {
				at := by.row(t)*by.columns + by.column(s)
				all[at] = append(all[at], w.at(n, t, s))
			}
		}
		for at, cell := range all {
			p.v[n*len(all)+at] = slices.Max(cell)
		}
	}
	return pooled
}

// Log-sum-exp, entropy and pooling equal PyTorch's.
func TestAttentionStatsOfPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/attention_stats.safetensors")
	for _, p := range tolerances {
		g := G.NewGraph()
		in := func(name string) *G.Node {
			return node(g, name, array{file.Shape(name), file.Float64(name)}, p.dt)
		}
		q, k, v, bias := in("q"), in("k"), in("v"), in("bias")
		for name, c := range map[string]graph.AttentionConfig{
			"plain": {}, "causal": {Mask: mask.Causal{Align: mask.LowerRight}}, "biased": {Bias: bias},
		} {
			_, s, err := fusedAttentionStats(q, k, v, c, 0)
			require.NoError(t, err)
			largest, err := s.Largest(3, 4)
			require.NoError(t, err)
			names := []string{".lse", ".entropy", ".max", ".distance", ".largest"}
			for i, n := range (G.Nodes{s.LogSumExp, s.Entropy, s.MaxScore, s.Distance, largest}) {
				want := array{file.Shape(name + names[i]), file.Float64(name + names[i])}
				near(t, name+names[i], want, valueOf(t, n), p.tol)
			}
		}
	}
}

// Statistics of 8192 queries and keys need no more memory per query than those of 1024 queries. The weights would take
// 256 MiB.
func TestAttentionStatsInLinearMemory(t *testing.T) {
	each := func(T int) int {
		g := G.NewGraph()
		r := rand.New(rand.NewPCG(1, 2))
		x := node(g, "x", normal(r, T, 4), tensor.Float32)
		out, s, err := fusedAttentionStats(x, x, x, graph.AttentionConfig{Mask: mask.Causal{}}, 0)
		require.NoError(t, err)
		w := watching{height: T / 32, width: T / 32}
		nodes := append(w.nodes(t, s), out)
		m, err := machine.New(nodes...)
		require.NoError(t, err)
		defer m.Close()
		require.NoError(t, m.RunAll())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, m.RunAll())
		runtime.ReadMemStats(&after)
		if !testenv.Race { // the race detector makes sync.Pool drop objects
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), "of a run")
		}
		for row, e := range s.Entropy.Value().Data().([]float32) {
			require.LessOrEqual(t, float64(e), math.Log(float64(row+1))+1e-5, "row %d", row)
		}
		cells := 4 * (32*32 + w.height*w.width)
		return (m.Memory().Sum - cells) / T
	}
	require.Equal(t, each(1024), each(8192))
}

// With packed queries, keys and values, the statistics have the same bits as with separate ones.
func TestPackedAttentionStats(t *testing.T) {
	g := G.NewGraph()
	qkv := node(g, "qkv", normal(rand.New(rand.NewPCG(1, 2)), 2, 7, 6*4+2*4+2*5), tensor.Float64)
	parts, err := graph.Split(qkv, 24, 8, 10)
	require.NoError(t, err)
	c := graph.AttentionConfig{Heads: 6, KVHeads: 2, Mask: mask.Causal{}}
	w := watching{height: 2, width: 3}
	out, s, err := fusedAttentionStats(parts[0], parts[1], parts[2], c, 1)
	require.NoError(t, err)
	r, err := graph.FusedAttention(graph.FusedInputs{Packed: qkv, Widths: [3]int{24, 8, 10}, Stats: true, Offset: 1}, c)
	require.NoError(t, err)
	nodes, packedNodes := append(w.nodes(t, s), out), append(w.nodes(t, r.Stats), r.Out)
	for i, n := range nodes {
		require.Equal(t, bits(valueOf(t, n)), bits(valueOf(t, packedNodes[i])), "%d", i)
	}
}

// Statistics of a single query and key. Statistics have no gradient: a loss made of them changes no parameter.
func TestAttentionStatsOfOneToken(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", of([]float64{2, 1}, 1, 2), tensor.Float64)
	out, s, err := fusedAttentionStats(x, x, x, graph.AttentionConfig{Scale: 1}, 0)
	require.NoError(t, err)
	w := watching{height: 9, width: 9}
	for i, n := range w.nodes(t, s) {
		want := []float64{5, 5, 5, 0, 1, 1, 0, 0, 0, 1, 1}[i]
		require.Equal(t, []float64{want}, valueOf(t, n).v, statisticNames[i])
	}
	sum := func(n *G.Node) *G.Node {
		y, err := graph.Sum(n, graph.ReduceConfig{})
		require.NoError(t, err)
		return y
	}
	both, err := graph.Add(sum(out), sum(s.Entropy))
	require.NoError(t, err)
	plain, err := G.Grad(both, x)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 1}, valueOf(t, plain[0]).v)
}

func TestAttentionStatsRefuse(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", zeros(2, 3, 4), tensor.Float64)
	_, s, err := fusedAttentionStats(x, x, x, graph.AttentionConfig{}, 0)
	require.NoError(t, err)
	_, _, err = fusedAttentionStats(x, x, x, graph.AttentionConfig{}, math.MaxInt)
	require.EqualError(t, err, fmt.Sprintf("graph: FusedAttention: offset: got %d, want at most %d either way",
		math.MaxInt, math.MaxInt32))
	_, err = s.Largest(0, 3)
	require.EqualError(t, err, "graph: Largest: cells: got 0 by 3, want from 1 to 2147483647 queries and keys")
	_, err = s.LargestTo(3, 0)
	require.EqualError(t, err, "graph: LargestTo: cells: got 3 rows and 0 columns, want at least 1 each")
	_, err = new(graph.AttentionStats).Largest(1, 1)
	require.EqualError(t, err, "graph: Largest: got the zero value of statistics, want those of an attention")
}
