package graph_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Mask functions, each with the built-in mask that it equals.
var defined = []struct {
	name string
	of   mask.Func
	is   mask.Mask
}{
	{name: "causal", of: mask.Func{VisibleAt: func(t, s int) bool { return s <= t+3 }}, is: mask.Causal{Offset: 3}},
	{name: "blind", of: mask.Func{VisibleAt: func(t, s int) bool { return s <= t-40 }},
		is: mask.Causal{Align: mask.UpperLeft, Offset: -40}},
	{name: "window", of: mask.Func{VisibleAt: func(t, s int) bool { return t-s <= 9 && s-t <= 1 }},
		is: mask.SlidingWindow{Left: 9, Right: 1, Align: mask.UpperLeft}},
	{name: "both sides", of: mask.Func{Visible: func(b, h, t, s int) bool { return t-s > 9 || s-t > 1 }},
		is: mask.Not(mask.SlidingWindow{Left: 9, Right: 1, Align: mask.UpperLeft})},
	{name: "none", of: mask.Func{VisibleAt: func(t, s int) bool { return false }}, is: mask.Not(mask.All{})},
	{name: "all", of: mask.Func{Visible: func(b, h, t, s int) bool { return true }}, is: mask.Prefix{N: 1000}},
}

// A batch alone gives the same bits as among others, although only with many batches the kernel learns at once that a
// query sees all keys of a tile.
func TestFuncGivesABatchAloneTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	m := mask.Func{VisibleAt: func(t, s int) bool { return true }}
	for _, T := range []int{1, 40} {
		q, k, v := normal(r, 2, T, 5), normal(r, 2, 133, 5), normal(r, 2, 133, 5)
		run := func(batches int) []uint64 {
			first := func(x array) array {
				x.shape = append([]int{batches}, x.shape[1:]...)
				x.v = x.v[:batches*len(x.v)/2]
				return x
			}
			e := express(t, fusedBy(graph.AttentionConfig{Mask: m}), inputs(first(q), first(k), first(v)), tensor.Float64)
			return bits(e.onOurs(t).out)
		}
		require.Equal(t, run(2)[:T*5], run(1), "T = %d", T)
	}
}

// A mask function gives the results of the built-in mask that it equals, in both forms of attention, with grouped
// heads, gradients and several tiles, on both machines.
func TestFuncIsTheMaskThatItDefines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	in := inputs(normal(r, 2, 133, 12), normal(r, 2, 261, 6), normal(r, 2, 261, 4))
	dout := normal(r, 2, 133, 8)
	for _, c := range defined {
		for _, p := range tolerances {
			for form, by := range map[string]func(graph.AttentionConfig) func(G.Nodes) (*G.Node, error){
				"fused": fusedBy, "composed": composedBy,
			} {
				t.Run(fmt.Sprint(c.name, "/", form, "/", p.dt), func(t *testing.T) {
					run := func(m mask.Mask, machine func(e expression, t testing.TB) result) result {
						e := express(t, by(graph.AttentionConfig{Heads: 4, KVHeads: 2, Mask: m}), in, p.dt)
						e.differentiate(t, in, dout, p.dt)
						return machine(e, t)
					}
					want, got := run(c.is, expression.onOurs), run(c.of, expression.onOurs)
					nearResult(t, c.name, want, got, p.tol)
					require.Equal(t, bits(run(c.of, expression.onTape).out), bits(got.out))
				})
			}
		}
	}
}

// A Func has the statistics of the built-in mask that shows the same keys.
func TestStatisticsOfAFunc(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	q, k, v := normal(r, 2, 69, 6), normal(r, 2, 131, 6), normal(r, 2, 131, 6)
	of := func(m mask.Mask) (values []array) {
		g := G.NewGraph()
		in := G.Nodes{node(g, "q", q, tensor.Float64), node(g, "k", k, tensor.Float64), node(g, "v", v, tensor.Float64)}
		_, s, err := fusedAttentionStats(in[0], in[1], in[2], graph.AttentionConfig{Heads: 3, Mask: m}, 0)
		require.NoError(t, err)
		largest, err := s.Largest(5, 7)
		require.NoError(t, err)
		wanted := G.Nodes{s.LogSumExp, s.MaxScore, s.Entropy, s.First, s.Own, s.Distance, largest}
		m2, err := machine.New(wanted...)
		require.NoError(t, err)
		require.NoError(t, m2.RunAll())
		for _, n := range wanted {
			values = append(values, arrayOf(t, n.Value()))
		}
		return values
	}
	for _, c := range defined {
		want, got := of(c.is), of(c.of)
		for i := range want {
			near(t, fmt.Sprintf("%s, statistic %d", c.name, i), want[i], got[i], 1e-12)
		}
	}
}

// Two ops with one Func are not merged, nor are two ops whose functions differ in a captured variable.
func TestOpsOfFuncsAreNotMerged(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", normal(rand.New(rand.NewPCG(1, 2)), 1, 3, 2), tensor.Float64)
	ahead := func(d int) mask.Func {
		return mask.Func{Name: "ahead", VisibleAt: func(t, s int) bool { return s <= t+d }}
	}
	one := ahead(0)
	outs := G.Nodes{}
	for _, m := range []mask.Func{one, one, ahead(0), ahead(1)} {
		out, err := fusedAttention(x, x, x, graph.AttentionConfig{Mask: m})
		require.NoError(t, err)
		require.NotContains(t, outs, out)
		outs = append(outs, out)
	}
	m, err := machine.New(outs...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Equal(t, arrayOf(t, outs[0].Value()), arrayOf(t, outs[1].Value()))
	require.Equal(t, arrayOf(t, outs[0].Value()), arrayOf(t, outs[2].Value()))
	require.NotEqual(t, arrayOf(t, outs[0].Value()), arrayOf(t, outs[3].Value()))
}

// A function of positions alone is called once for each tile that is hidden or shown as a whole, however many batches
// and heads there are. A function of batch and head is called for each of them.
func TestHowOftenAFuncIsAsked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	asked := new(atomic.Int64)
	blocks := func(t, s int) bool {
		asked.Add(1)
		return t/64 == s/128
	}
	of := func(_, _, t, s int) bool { return blocks(t, s) }
	for _, c := range []struct {
		name string
		mask mask.Mask
		want int
	}{
		{name: "positions", mask: mask.Func{VisibleAt: blocks}, want: 128 * 256},
		{name: "in a window of a half", mask: mask.And(mask.Prefix{N: 128}, mask.Func{VisibleAt: blocks}), want: 128 * 128},
		{name: "batches and heads", mask: mask.Func{Visible: of}, want: 6 * 128 * 256},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := express(t, fusedBy(graph.AttentionConfig{Heads: 3, Mask: c.mask}),
				inputs(normal(r, 2, 128, 6), normal(r, 2, 256, 6), normal(r, 2, 256, 6)), tensor.Float32)
			m, err := machine.New(e.out)
			require.NoError(t, err)
			asked.Store(0)
			require.NoError(t, m.RunAll())
			require.Equal(t, c.want, int(asked.Load()))
		})
	}
}

// A panic in a function becomes the error of the op, forward and backward, on both machines; the next run works.
func TestAPanicInAFuncIsAnErrorOfTheOp(t *testing.T) {
	var bad, backward atomic.Bool
	runs := new(atomic.Int64)
	m := mask.Func{Name: "mine", Visible: func(b, h, t, s int) bool {
		if bad.Load() && (!backward.Load() || runs.Add(1) > 2*3*67*67) && b == 1 && h == 2 && t == 66 && s == 3 {
			panic("no answer")
		}
		return s <= t
	}}
	const said = `: mask: Func "mine": got a panic for batch 1, head 2, query 66 and key 3: no answer, want true or false`
	in := inputs(normal(rand.New(rand.NewPCG(3, 4)), 2, 67, 6))
	itself := func(attend func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error)) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			return attend(in[0], in[0], in[0], graph.AttentionConfig{Heads: 3, Mask: m})
		}
	}
	composed := func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
		return context(graph.Attention(q, k, v, c))
	}
	for name, c := range map[string]struct {
		op       func(G.Nodes) (*G.Node, error)
		backward bool
		want     string
	}{
		"fused":           {op: itself(fusedAttention), want: "graph: FusedAttention" + said},
		"fused, backward": {op: itself(fusedAttention), backward: true, want: "graph: FusedAttentionBackward" + said},
		"composed":        {op: itself(composed), want: "graph: Scores" + said},
	} {
		t.Run(name, func(t *testing.T) {
			e := express(t, c.op, in, tensor.Float64)
			e.differentiate(t, in, normal(rand.New(rand.NewPCG(5, 6)), 2, 67, 6), tensor.Float64)
			ours, err := machine.New(append(G.Nodes{e.out}, e.grads...)...)
			require.NoError(t, err)
			tape := G.NewTapeMachine(e.g)
			defer tape.Close()
			for _, vm := range []G.VM{ours, tape} {
				bad.Store(true)
				backward.Store(c.backward)
				runs.Store(0)
				require.ErrorContains(t, vm.RunAll(), c.want)
				bad.Store(false)
				vm.Reset()
				require.NoError(t, vm.RunAll())
				vm.Reset()
			}
		})
	}
}
