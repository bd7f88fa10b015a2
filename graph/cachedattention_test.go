package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// cached is a cached attention, with the whole sequences that are passed to it in chunks.
type cached struct {
	dt              tensor.Dtype
	size            graph.KVCacheConfig
	heads, kvHeads  int
	softcap         float64
	q, k, v         array // (B, N, width)
	lengths         []float64
	segments        []float64 // (B, N)
	keep            []float64 // (B, N)
	bias            array     // (H, N, N) or none
	relative        array     // (H, N): by distance 0, 1, …; or none
	sinks           array     // (H) or none
	gates           array     // (B, N, H), log-gates or none
	changed         bool      // whether there is a function of scores
	mask            func(c *cached, in *cachedInputs) mask.Mask
	queries, allKey int // rows of q in the graph, keys that masks and biases cover
}

// cachedInputs makes inputs of one graph.
type cachedInputs struct {
	t     testing.TB
	g     *G.ExprGraph
	start int // of the chunk; −1 for the whole sequence
	dt    tensor.Dtype
}

func (in *cachedInputs) node(name string, a array) *G.Node { return node(in.g, name, a, in.dt) }

func (in *cachedInputs) ids(name string, a array) *G.Node { return node(in.g, name, a, tensor.Int64) }

// tokenRows returns the rows from, …, to−1 of each sequence of (B, N, width), and zeros behind the end.
func tokenRows(a array, from, to int) array {
	b, n, w := a.shape[0], a.shape[1], a.shape[2]
	y := zeros(b, to-from, w)
	for i := range b {
		for r := from; r < min(to, n); r++ {
			copy(y.v[(i*(to-from)+r-from)*w:][:w], a.v[(i*n+r)*w:])
		}
	}
	return y
}

var cachedMasks = map[string]func(c *cached, in *cachedInputs) mask.Mask{
	"causal": func(*cached, *cachedInputs) mask.Mask { return mask.Causal{} },
	"window": func(*cached, *cachedInputs) mask.Mask { return mask.SlidingWindow{Left: 3} },
	"window and prefix": func(*cached, *cachedInputs) mask.Mask {
		return mask.And(mask.Causal{}, mask.Or(mask.SlidingWindow{Left: 1}, mask.Prefix{N: 2}))
	},
	"not the last two": func(*cached, *cachedInputs) mask.Mask {
		return mask.And(mask.Causal{}, mask.Not(mask.SlidingWindow{Left: 1}))
	},
	"behind": func(*cached, *cachedInputs) mask.Mask { return mask.Causal{Offset: -2} },
	"causal and func": func(*cached, *cachedInputs) mask.Mask {
		return mask.And(mask.Causal{}, mask.Not(mask.Func{Visible: func(b, h, t, s int) bool { return (t+2*s+b)%4 == h }}))
	},
	"func": func(*cached, *cachedInputs) mask.Mask {
		return mask.Func{VisibleAt: func(t, s int) bool { return s <= t && (t+2*s)%3 > 0 }}
	},
	"causal at": func(c *cached, in *cachedInputs) mask.Mask {
		start := of(slices.Clone(c.lengths))
		for b := range start.v {
			start.v[b] = -start.v[b]
		}
		return mask.CausalAt{Start: in.ids("causal start", start)}
	},
	"lengths": func(c *cached, in *cachedInputs) mask.Mask {
		return mask.And(mask.Causal{}, mask.KeyLengths{Lengths: in.ids("lengths", of(c.lengths))})
	},
	"keep": func(c *cached, in *cachedInputs) mask.Mask {
		b, n := c.q.shape[0], c.q.shape[1]
		keep := tokenRows(of(c.keep, b, n, 1), 0, c.allKey)
		return mask.And(mask.Causal{}, mask.Keep{Keep: in.node("keep", of(keep.v, b, 1, 1, c.allKey))})
	},
	"segments": func(c *cached, in *cachedInputs) mask.Mask {
		b, n := c.q.shape[0], c.q.shape[1]
		from := max(in.start, 0)
		all := of(c.segments, b, n, 1)
		query, key := tokenRows(all, from, from+c.queries), tokenRows(all, 0, c.allKey)
		return mask.And(mask.Causal{}, mask.Segments{
			Query: in.ids("query segments", of(query.v, b, c.queries)), Key: in.ids("key segments",
				of(key.v, b, c.allKey))})
	},
}

// cachedMaskNames lists the masks that fit a rolling cache, then the others; the last has a row for each query.
var cachedMaskNames = []string{"causal", "window", "window and prefix", "not the last two", "behind", "causal and func",
	"causal at", "func", "lengths", "keep", "segments"}

// config returns the attention of the chunk at start, or of the whole sequence.
func (c *cached) config(in *cachedInputs) graph.AttentionConfig {
	a := graph.AttentionConfig{Heads: c.heads, KVHeads: c.kvHeads, Softcap: c.softcap, Mask: c.mask(c, in)}
	if c.changed {
		a.Score = wave
	}
	if c.sinks.v != nil {
		a.Sinks = in.node("sinks", c.sinks)
	}
	from, n := max(in.start, 0), c.q.shape[1]
	if c.gates.v != nil {
		a.LogGates = in.node("log gates", tokenRows(c.gates, from, from+c.queries))
	}
	if c.bias.v != nil {
		bias := zeros(c.heads, c.queries, c.allKey)
		for h := range c.heads {
			for t := range c.queries {
				copy(bias.v[(h*c.queries+t)*c.allKey:][:min(n, c.allKey)], c.bias.v[(h*n+from+t)*n:])
			}
		}
		a.Bias = in.node("bias", bias)
	}
	if c.relative.v != nil {
		before := c.queries - 1
		if in.start < 0 {
			before = n - 1
		}
		most := c.relative.shape[1]
		relative := zeros(c.heads, before+most)
		for h := range c.heads {
			copy(relative.v[h*(before+most)+before:], c.relative.v[h*most:][:most])
		}
		if in.start < 0 {
			relative = firstColumns(relative, 2*n-1)
		}
		a.RelativeBias = in.node("relative", relative)
	}
	return a
}

func firstColumns(a array, n int) array {
	y := zeros(a.shape[0], n)
	for r := range a.shape[0] {
		copy(y.v[r*n:][:n], a.v[r*a.shape[1]:])
	}
	return y
}

// whole computes the attention of all tokens at once.
func (c *cached) whole(t testing.TB) array {
	in := &cachedInputs{t: t, g: G.NewGraph(), start: -1, dt: c.dt}
	c.queries, c.allKey = c.q.shape[1], c.q.shape[1]
	a := c.config(in)
	if c.size.Rolling {
		a.Mask = mask.And(a.Mask, mask.Or(mask.SlidingWindow{Left: c.size.Capacity - c.size.KeepFirst - 1},
			mask.Prefix{N: c.size.KeepFirst}))
	}
	out, err := fusedAttention(in.node("q", c.q), in.node("k", c.k), in.node("v", c.v), a)
	require.NoError(t, err)
	return run(t, out)
}

func run(t testing.TB, out *G.Node) array {
	m, err := machine.New(out)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	return arrayOf(t, out.Value())
}

// chunks computes the attention chunk by chunk.
func (c *cached) chunks(t testing.TB, lengths []int) array {
	cache, err := graph.NewKVCache(c.dt, c.size)
	require.NoError(t, err)
	n := c.q.shape[1]
	out := zeros(c.q.shape[0], n, c.heads*c.v.shape[2]/c.kvHeads)
	start := 0
	for _, T := range lengths {
		in := &cachedInputs{t: t, g: G.NewGraph(), start: start, dt: c.dt}
		c.queries, c.allKey = T, c.size.Capacity
		first := node(in.g, "start", array{[]int{}, []float64{float64(start)}}, tensor.Int64)
		chunk := func(name string, a array) *G.Node { return in.node(name, tokenRows(a, start, start+T)) }
		got, err := cachedAttention(chunk("q", c.q), chunk("k", c.k), chunk("v", c.v), first, cache, c.config(in))
		require.NoError(t, err)
		y := run(t, got)
		w := y.shape[2]
		for b := range y.shape[0] {
			copy(out.v[(b*n+start)*w:], y.v[b*T*w:][:T*w])
		}
		start += T
		require.Equal(t, start, cache.Len())
	}
	return out
}

// Chunks of any length with a cache give the outputs of the whole sequence, for non-finite numbers too.
func TestCachedAttentionEqualsTheWholeSequence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		b, n, d, dv := rapid.IntRange(1, 3).Draw(rt, "B"), rapid.IntRange(1, 17).Draw(rt, "N"), 3, 2
		kind := rapid.SampledFrom(tolerances).Draw(rt, "type")
		c := &cached{dt: kind.dt, kvHeads: rapid.IntRange(1, 2).Draw(rt, "K")}
		c.heads = c.kvHeads * rapid.IntRange(1, 2).Draw(rt, "group")
		c.q, c.k, c.v = normal(r, b, n, c.heads*d), normal(r, b, n, c.kvHeads*d), normal(r, b, n, c.kvHeads*dv)
		c.size = graph.KVCacheConfig{Batch: b, KeyWidth: c.kvHeads * d, ValueWidth: c.kvHeads * dv,
			Capacity: n + r.IntN(3)}
		names := cachedMaskNames
		if rapid.Bool().Draw(rt, "rolling") {
			c.size.Rolling, c.size.Capacity = true, 1+r.IntN(n)
			c.size.KeepFirst = r.IntN(c.size.Capacity)
			names = names[:7]
		}
		c.mask = cachedMasks[rapid.SampledFrom(names).Draw(rt, "mask")]
		for range b {
			c.lengths = append(c.lengths, float64(r.IntN(n+1)))
		}
		for range b * n {
			c.segments, c.keep = append(c.segments, float64(r.IntN(3))), append(c.keep, float64(r.IntN(2)))
		}
		c.softcap = rapid.SampledFrom([]float64{0, 2}).Draw(rt, "softcap")
		c.changed = rapid.Bool().Draw(rt, "score func")
		if rapid.Bool().Draw(rt, "bias") && !c.size.Rolling {
			c.bias = normal(r, c.heads, n, n)
		}
		if rapid.Bool().Draw(rt, "relative") {
			c.relative = normal(r, c.heads, max(n, c.size.Capacity))
		}
		if rapid.Bool().Draw(rt, "sinks") {
			c.sinks = normal(r, c.heads)
		}
		if rapid.Bool().Draw(rt, "forgets") {
			c.gates, c.size.Gates = normal(r, b, n, c.heads), c.heads
		}
		var lengths []int
		for left := n; left > 0; {
			lengths = append(lengths, rapid.IntRange(1, left).Draw(rt, "chunk"))
			left -= lengths[len(lengths)-1]
		}
		for range max(0, rapid.IntRange(-3, 3).Draw(rt, "planted")) {
			to := rapid.SampledFrom([][]float64{c.q.v, c.k.v, c.v.v, c.k.v, c.v.v}).Draw(rt, "array")
			to[r.IntN(len(to))] = rapid.SampledFrom([]float64{nan, inf, -inf}).Draw(rt, "number")
		}
		if c.size.ValuesInKeys = rapid.Bool().Draw(rt, "values in keys"); c.size.ValuesInKeys {
			for i := range c.v.v {
				c.v.v[i] = c.k.v[i/dv*d+i%dv]
			}
		}
		want, got := c.whole(t), c.chunks(t, lengths)
		for i, x := range want.v {
			require.Equal(rt, notFinite(x), notFinite(got.v[i]), "element %d: got %v, want %v", i, got.v[i], x)
			if notFinite(x) {
				want.v[i], got.v[i] = 0, 0
			}
		}
		near(t, fmt.Sprintf("chunks of %v, %+v", lengths, c.size), want, got, 10*kind.tol)
	})
}

// Each sequence of a batch starts at its own position, and a run may repeat tokens that were already read.
func TestSequencesStartWhereEachIs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		b, n := rapid.IntRange(2, 3).Draw(rt, "B"), rapid.IntRange(2, 17).Draw(rt, "N")
		kind := rapid.SampledFrom(tolerances).Draw(rt, "type")
		c := &cached{dt: kind.dt, kvHeads: 1, heads: 2, softcap: rapid.SampledFrom([]float64{0, 2}).Draw(rt, "softcap")}
		c.q, c.k, c.v = normal(r, b, n, 6), normal(r, b, n, 3), normal(r, b, n, 2)
		c.size = graph.KVCacheConfig{Batch: b, KeyWidth: 3, ValueWidth: 2, Capacity: n + r.IntN(3)}
		c.mask = cachedMasks[rapid.SampledFrom(cachedMaskNames[:len(cachedMaskNames)-1]).Draw(rt, "mask")]
		c.changed = rapid.Bool().Draw(rt, "score func")
		for range b {
			c.lengths = append(c.lengths, float64(r.IntN(n+1)))
		}
		for range b * n {
			c.keep = append(c.keep, float64(r.IntN(2)))
		}
		if rapid.Bool().Draw(rt, "relative") {
			c.relative = normal(r, c.heads, max(n, c.size.Capacity))
		}
		if rapid.Bool().Draw(rt, "forgets") {
			c.gates, c.size.Gates = normal(r, b, n, c.heads), c.heads
		}
		near(t, fmt.Sprintf("%+v", c.size), c.whole(t), c.ragged(t, r), 10*kind.tol)
	})
}

// ragged computes the attention in chunks; each sequence has its own start.
func (c *cached) ragged(t testing.TB, r *rand.Rand) array {
	cache, err := graph.NewKVCache(c.dt, c.size)
	require.NoError(t, err)
	B, n := c.q.shape[0], c.q.shape[1]
	out, seen, starts := zeros(B, n, 4), make([]int, B), make([]float64, B)
	for slices.Min(seen) < n {
		T := 1 + r.IntN(n)
		for b := range B {
			starts[b] = float64(max(0, min(seen[b], n-T)-r.IntN(T)))
		}
		in := &cachedInputs{t: t, g: G.NewGraph(), dt: c.dt}
		c.queries, c.allKey = T, c.size.Capacity
		chunk := func(name string, a array) *G.Node {
			rows, w := zeros(B, T, a.shape[2]), a.shape[2]
			for b, start := range starts {
				copy(rows.v[b*T*w:][:T*w], a.v[(b*n+int(start))*w:])
			}
			return in.node(name, rows)
		}
		first := node(in.g, "start", of(starts, B, 1), tensor.Int64)
		a := c.config(in)
		if c.gates.v != nil {
			a.LogGates = chunk("log gates of each", c.gates)
		}
		got, err := cachedAttention(chunk("q", c.q), chunk("k", c.k), chunk("v", c.v), first, cache, a)
		require.NoError(t, err)
		y := run(t, got)
		for b, start := range starts {
			copy(out.v[(b*n+int(start))*4:], y.v[b*T*4:][:T*4])
			seen[b] = int(start) + T
		}
		require.Equal(t, slices.Min(seen), cache.Len())
	}
	return out
}

func TestCachedAttentionHasNoGradient(t *testing.T) {
	g := G.NewGraph()
	in := G.Nodes{node(g, "q", zeros(1, 1, 6), tensor.Float64), node(g, "k", zeros(1, 1, 3), tensor.Float64),
		node(g, "v", zeros(1, 1, 3), tensor.Float64)}
	cache, err := graph.NewKVCache(tensor.Float64, graph.KVCacheConfig{KeyWidth: 3, ValueWidth: 3, Capacity: 2})
	require.NoError(t, err)
	out, err := cachedAttention(in[0], in[1], in[2], G.NewScalar(g, tensor.Int, G.WithName("start")), cache,
		graph.AttentionConfig{Heads: 2, KVHeads: 1, Mask: mask.Causal{}})
	require.NoError(t, err)
	_, err = G.Backpropagate(G.Nodes{out}, G.Nodes{node(g, "dout", zeros(1, 1, 6), tensor.Float64)}, in)
	require.ErrorContains(t, err, "FusedAttention: has no gradient")
}

// A mask that shows a query a key of a later chunk is refused: the outputs would differ from those of the whole
// sequence.
func TestACacheWantsAMaskThatHidesLaterKeys(t *testing.T) {
	keep := func(n int) func(g *G.ExprGraph) mask.Mask { // the first n keys
		k := zeros(1, 4)
		for i := range n {
			k.v[i] = 1
		}
		return func(g *G.ExprGraph) mask.Mask { return mask.Keep{Keep: node(g, "keep", k, tensor.Float64)} }
	}
	of := func(m mask.Mask) func(*G.ExprGraph) mask.Mask { return func(*G.ExprGraph) mask.Mask { return m } }
	const none = "graph: FusedAttention: mask: got none with a cache, want one that hides later keys, as mask.Causal"
	const later = "graph: FusedAttention: mask: got one by which query 0 sees keys after 1, the last one there is, " +
		"want one that hides later keys, as mask.Causal"
	laterOf1 := strings.Replace(later, "query 0", "query 1", 1)
	for name, c := range map[string]struct {
		mask          func(g *G.ExprGraph) mask.Mask
		rolling       bool
		build, refuse string
	}{
		"none":                    {mask: of(nil), build: none},
		"all":                     {mask: of(mask.All{}), build: none},
		"none, rolling":           {mask: of(nil), rolling: true, build: none},
		"causal":                  {mask: of(mask.Causal{})},
		"causal window":           {mask: of(mask.SlidingWindow{Left: 1})},
		"window to the right":     {mask: of(mask.SlidingWindow{Left: 1, Right: 2}), refuse: later},
		"prefix of the chunk":     {mask: of(mask.Or(mask.Causal{}, mask.Prefix{N: 2}))},
		"prefix beyond the chunk": {mask: of(mask.Or(mask.Causal{}, mask.Prefix{N: 3})), refuse: later},
		"prefix, rolling":         {mask: of(mask.Prefix{N: 3}), rolling: true, refuse: later},
		"not a prefix":            {mask: of(mask.Not(mask.Prefix{N: 1})), refuse: later},
		"one key ahead":           {mask: of(mask.Causal{Offset: 1}), refuse: laterOf1},
		"func of the chunk":       {mask: of(mask.Func{VisibleAt: func(t, s int) bool { return s < 2 }})},
		"func of later keys":      {mask: of(mask.Func{VisibleAt: func(t, s int) bool { return s < 3 }}), refuse: later},
		"func, rolling": {mask: of(mask.Func{VisibleAt: func(t, s int) bool { return s < 2 }}), rolling: true,
			refuse: later},
		"keep of the chunk":        {mask: keep(2)},
		"keep of later keys":       {mask: keep(3), refuse: later},
		"causal, keep later keys":  {mask: func(g *G.ExprGraph) mask.Mask { return mask.And(mask.Causal{}, keep(4)(g)) }},
		"causal or keep of a part": {mask: func(g *G.ExprGraph) mask.Mask { return mask.Or(mask.Causal{}, keep(2)(g)) }},
	} {
		g := G.NewGraph()
		x := node(g, "x", zeros(1, 2, 3), tensor.Float64)
		start := node(g, "start", array{nil, []float64{0}}, tensor.Int64)
		cache, err := graph.NewKVCache(tensor.Float64,
			graph.KVCacheConfig{KeyWidth: 3, ValueWidth: 3, Capacity: 4, Rolling: c.rolling})
		require.NoError(t, err)
		out, err := cachedAttention(x, x, x, start, cache, graph.AttentionConfig{Mask: c.mask(g)})
		if c.build != "" {
			require.EqualError(t, err, c.build, name)
			continue
		}
		require.NoError(t, err, name)
		m, err := machine.New(out)
		require.NoError(t, err)
		if err := m.RunAll(); c.refuse != "" {
			require.EqualError(t, err, "machine: "+c.refuse, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
