package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// Statistics of any attention are those of the weights that its definition gives, and
// asking for them changes no bit of the output and of the gradients.
func TestAttentionStatsOfAnyConfig(t *testing.T) {
	for range 4 { // times the checks that rapid makes
		rapid.Check(t, func(rt *rapid.T) {
			d := newDrawing(rt)
			a := drawAttention(rt)
			w := watching{
				offset: d.int("offset", -2, 3), height: d.int("height", 1, 9), width: d.int("width", 1, 9),
			}
			for range d.int("N", 1, 3) {
				w.rows = append(w.rows, float64(d.int("row", 0, a.z.T-1)))
			}
			a.checkStats(shrinking{t, rt}, w)
		})
	}
}

// watching is what statistics are asked for.
type watching struct {
	offset, height, width int
	rows                  []float64
}

var statisticNames = []string{
	"lse", "max score", "max product", "entropy", "first", "own", "previous", "sink", "received", "rows", "largest", "mean",
}

// nodes returns the statistics in the order of statisticNames.
func (w watching) nodes(t testing.TB, s *graph.AttentionStats, rows *G.Node) G.Nodes {
	t.Helper()
	received, err := s.Received()
	require.NoError(t, err)
	chosen, err := s.Rows(rows)
	require.NoError(t, err)
	largest, mean, err := s.Pooled(w.height, w.width)
	require.NoError(t, err)
	return G.Nodes{s.LogSumExp, s.MaxScore, s.MaxProduct, s.Entropy, s.First, s.Own, s.Previous, s.Sink,
		received, chosen, largest, mean}
}

func (a drawnAttention) checkStats(t testing.TB, w watching) {
	t.Helper()
	e, c := a.arguments(t)
	var stats *graph.AttentionStats
	var err error
	e.out, stats, err = graph.FusedAttentionStats(e.in[0], e.in[1], e.in[2], c, w.offset)
	require.NoError(t, err)
	dout := normal(rand.New(rand.NewPCG(9, 9)), e.out.Shape()...)
	e.differentiate(t, make([]input, len(e.in)), dout, a.dt)
	gradients := len(e.grads)
	e.grads = append(e.grads, w.nodes(t, stats, node(e.g, "rows", of(w.rows), tensor.Int))...)
	got, plain := e.onOurs(t), a.run(t, true, dout)
	require.Equal(t, bits(plain.out), bits(got.out), "out")
	for i, g := range plain.grads {
		require.Equal(t, bits(g), bits(got.grads[i]), "gradient of %s", a.names()[i])
	}
	for i, want := range a.naiveStats(w) {
		near(t, statisticNames[i], want, got.grads[gradients+i], a.tol)
	}
}

// naiveStats computes the statistics from the weights, which are those of the definition
// before dropout.
func (a drawnAttention) naiveStats(w watching) []array {
	ones := zeros(a.z.shape(a.c.ExtraKeys)...)
	for i := range ones.v {
		ones.v[i] = 1
	}
	_, weights, _ := a.naive(ones)
	S := weights.axis(-1)
	q, k := a.products()
	var stats []array
	for range 8 {
		stats = append(stats, zeros(weights.shape[:len(weights.shape)-1]...))
	}
	for row := range stats[0].v {
		b, h, t := row/a.z.T/a.z.H, row/a.z.T%a.z.H, row%a.z.T
		p := weights.v[row*S:][:S]
		for i, x := range a.rowStats(p, q, k, b, h, t, w.offset) {
			stats[i].v[row] = x
		}
	}
	return append(stats, naiveReceived(weights), naiveChosen(weights, w.rows),
		naivePooled(weights, w, slices.Max[[]float64]), naivePooled(weights, w, average))
}

// products returns queries and keys by matrix, those of shared heads repeated.
func (a drawnAttention) products() (q, k array) {
	q, k = a.q, a.k
	if a.c.Heads > 0 {
		q = naiveSplitHeads(q, a.c.Heads)
		k = naiveRepeatHeads(naiveSplitHeads(k, a.keyHeads()), a.c.Heads/a.keyHeads())
	}
	return q.matrices(), k.matrices()
}

// rowStats returns the statistics of the weights p of a query.
func (a drawnAttention) rowStats(p []float64, q, k array, b, h, t, offset int) [8]float64 {
	score, product := math.Inf(-1), math.Inf(-1)
	var scores []float64
	entropy, share := 0., 1.
	for s, weight := range p {
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
	return [8]float64{top + math.Log(sum), score, product, entropy, p[0], weight(t + offset), weight(t + offset - 1), share}
}

// naiveReceived sums weights (…, T, S) over the queries.
func naiveReceived(weights array) array {
	w := weights.matrices()
	sums := zeros(append(slices.Clone(weights.shape[:len(weights.shape)-2]), w.shape[2])...)
	for i, x := range w.v {
		sums.v[i/w.shape[1]/w.shape[2]*w.shape[2]+i%w.shape[2]] += x
	}
	return sums
}

// naiveChosen takes rows of weights (…, T, S).
func naiveChosen(weights array, rows []float64) array {
	w := weights.matrices()
	taken := weights.like(len(rows), w.shape[2])
	for n := range w.shape[0] {
		for i, t := range rows {
			for s := range w.shape[2] {
				taken.v[(n*len(rows)+i)*w.shape[2]+s] = w.at(n, int(t), s)
			}
		}
	}
	return taken
}

// naivePooled makes one number of each cell of weights (…, T, S).
func naivePooled(weights array, by watching, pool func(cell []float64) float64) array {
	w := weights.matrices()
	pooled := weights.like((w.shape[1]+by.height-1)/by.height, (w.shape[2]+by.width-1)/by.width)
	p := pooled.matrices()
	for n := range p.shape[0] {
		for i := range p.shape[1] {
			for j := range p.shape[2] {
				var cell []float64
				for t := i * by.height; t < min((i+1)*by.height, w.shape[1]); t++ {
					for s := j * by.width; s < min((j+1)*by.width, w.shape[2]); s++ {
						cell = append(cell, w.at(n, t, s))
					}
				}
				p.v[p.i(n, i, j)] = pool(cell)
			}
		}
	}
	return pooled
}

func average(cell []float64) float64 {
	sum := 0.
	for _, x := range cell {
		sum += x
	}
	return sum / float64(len(cell))
}
