package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// splitFor splits x into queries, keys and values, in the given order of the three, and applies an attention to them;
// uses adds further uses of the parts.
func splitFor(attend func(in G.Nodes) (*G.Node, error), widths []int, order [3]int,
	uses func(parts G.Nodes, out *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		parts, err := graph.Split(in[0], widths...)
		if err != nil {
			return nil, err
		}
		out, err := attend(append(G.Nodes{parts[order[0]], parts[order[1]], parts[order[2]]}, in[1:]...))
		if err != nil || uses == nil {
			return out, err
		}
		return uses(parts, out)
	}
}

// packedFor is splitFor with a packed FusedAttention.
func packedFor(c graph.AttentionConfig, widths []int,
	uses func(parts G.Nodes, out *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		if len(in) > 1 {
			c.Dropout.Key = in[1]
		}
		out, err := fusedAttentionPacked(in[0], [3]int(widths), c)
		if err != nil || uses == nil {
			return out, err
		}
		parts, err := graph.Split(in[0], widths...)
		if err != nil {
			return nil, err
		}
		return uses(parts, out)
	}
}

// Queries, keys and values that are packed in one tensor give the outputs and gradients of separate ones. The result of
// FusedAttention does not depend on how the parts were made.
func TestFusedAttentionOfPackedHeads(t *testing.T) {
	addValues := func(parts G.Nodes, out *G.Node) (*G.Node, error) { return graph.Add(out, parts[2]) }
	inOrder := [3]int{0, 1, 2}
	r := rand.New(rand.NewPCG(1, 2))
	for _, row := range []struct {
		name   string
		c      graph.AttentionConfig
		shape  []int
		widths []int
		order  [3]int
		uses   func(parts G.Nodes, out *G.Node) (*G.Node, error)
		packed bool
	}{
		{name: "heads", c: graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}}, shape: []int{2, 5, 63},
			widths: []int{21, 21, 21}, order: inOrder, packed: true},
		{name: "one head", c: graph.AttentionConfig{Heads: 1}, shape: []int{5, 21}, widths: []int{7, 7, 7},
			order: inOrder, packed: true},
		{name: "leading axes", c: graph.AttentionConfig{Heads: 2}, shape: []int{2, 3, 5, 22}, widths: []int{6, 6, 10},
			order: inOrder, packed: true},
		{name: "grouped heads", c: graph.AttentionConfig{Heads: 6, KVHeads: 2, Mask: mask.Causal{}},
			shape:  []int{2, 5, 62},
			widths: []int{42, 14, 6}, order: inOrder, packed: true},
		{name: "many tiles", c: graph.AttentionConfig{Heads: 2, Mask: mask.Causal{}}, shape: []int{300, 42},
			widths: []int{14, 14, 14}, order: inOrder, packed: true},
		{name: "dropout", c: graph.AttentionConfig{Heads: 2, Softcap: 3,
			Dropout: graph.DropoutConfig{P: 0.4, Site: 3}}, shape: []int{2, 7, 42},
			widths: []int{14, 14, 14}, order: inOrder, packed: true},
		{name: "a part used twice", c: graph.AttentionConfig{Heads: 3}, shape: []int{2, 5, 63},
			widths: []int{21, 21, 21}, order: inOrder, uses: addValues, packed: true},
		{name: "another order", c: graph.AttentionConfig{Heads: 3}, shape: []int{2, 5, 63}, widths: []int{21, 21, 21},
			order: [3]int{1, 0, 2}},
		{name: "one part for all", c: graph.AttentionConfig{Heads: 3}, shape: []int{2, 5, 63},
			widths: []int{21, 21, 21}, order: [3]int{0, 0, 0}},
		{name: "a part too many", c: graph.AttentionConfig{Heads: 3}, shape: []int{2, 5, 70},
			widths: []int{21, 21, 21, 7}, order: inOrder},
		{name: "no heads in a row", c: graph.AttentionConfig{}, shape: []int{2, 5, 21}, widths: []int{7, 7, 7},
			order: inOrder},
	} {
		in := inputs(normal(r, row.shape...))
		if row.c.Dropout.P > 0 {
			in = append(in, key(77))
		}
		for _, p := range tolerances {
			composed := express(t, splitFor(composedBy(row.c), row.widths, row.order, row.uses), in, p.dt)
			dout := normal(rand.New(rand.NewPCG(9, 9)), composed.out.Shape()...)
			composed.differentiate(t, in, dout, p.dt)
			want := composed.onOurs(t)
			check := func(form string, op func(in G.Nodes) (*G.Node, error), packed bool) result {
				fused := express(t, op, in, p.dt)
				require.Equal(t, packed, takes(fused.out, fused.in[0]), row.name)
				fused.differentiate(t, in, dout, p.dt)
				got := fused.onOurs(t)
				nearResult(t, fmt.Sprintf("%s, %s, %v", row.name, form, p.dt), want, got, 10*p.tol)
				if p.dt == tensor.Float64 {
					nearResult(t, row.name+" on the tape machine", want, fused.onTape(t), 10*p.tol)
				}
				return got
			}
			split := check("split", splitFor(fusedBy(row.c), row.widths, row.order, row.uses), false)
			if row.packed {
				packed := check("packed", packedFor(row.c, row.widths, row.uses), true)
				require.Equal(t, bits(split.out), bits(packed.out), row.name)
			}
		}
	}
}

func TestWrongPackingsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	heads := graph.AttentionConfig{Heads: 3}
	for _, c := range []struct {
		qkv    *G.Node
		widths [3]int
		config graph.AttentionConfig
		want   string
	}{
		{widths: [3]int{6, 6, 6}, config: heads, want: "FusedAttention: q: got nil, want a node"},
		{qkv: b.f(2, 5, 18), widths: [3]int{6, 6, 6}, want: "FusedAttention: heads: got 0, want at least 1"},
		{qkv: b.f(2, 5, 12), widths: [3]int{6, 0, 6}, config: heads,
			want: "FusedAttention: widths: got [6 0 6], want three of at least 1"},
		{qkv: b.f(2, 5, 18), widths: [3]int{6, 6, 7}, config: heads,
			want: "FusedAttention: packed: shape (2, 5, 18), want (…, T, 19) for widths [6 6 7]"},
		{qkv: b.f(18), widths: [3]int{6, 6, 6}, config: heads,
			want: "FusedAttention: packed: shape (18), want (…, T, 18) for widths [6 6 6]"},
		{qkv: b.f(2, 5, 18), widths: [3]int{6, 6, 6}, config: graph.AttentionConfig{Heads: 4},
			want: "FusedAttention: q: shape (2, 5, 6), want (…, T, H·D) with H=4"},
		{qkv: b.f(2, 5, 18), widths: [3]int{6, 5, 7}, config: heads,
			want: "FusedAttention: k: shape (2, 5, 5), want (2, S, 6)"},
		{qkv: b.f(2, 5, 18), widths: [3]int{6, 6, 6}, config: graph.AttentionConfig{Heads: 3, Mask: mask.Prefix{N: -1}},
			want: "FusedAttention: mask: got a prefix of -1 keys, want at least 0"},
	} {
		_, err := fusedAttentionPacked(c.qkv, c.widths, c.config)
		require.EqualError(t, err, "graph: "+c.want)
	}
}

// Parts of two different tensors are not read as one packed tensor.
func TestFusedAttentionOfPartsOfTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in := inputs(normal(r, 2, 5, 63), normal(r, 2, 5, 63))
	by := func(attend func(in G.Nodes) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			one, err := graph.Split(in[0], 21, 21, 21)
			if err != nil {
				return nil, err
			}
			other, err := graph.Split(in[1], 21, 21, 21)
			if err != nil {
				return nil, err
			}
			return attend(G.Nodes{one[0], other[1], one[2]})
		}
	}
	c := graph.AttentionConfig{Heads: 3}
	dout := normal(r, 2, 5, 21)
	var got [2]result
	for i, attend := range []func(in G.Nodes) (*G.Node, error){composedBy(c), fusedBy(c)} {
		e := express(t, by(attend), in, tensor.Float64)
		e.differentiate(t, in, dout, tensor.Float64)
		got[i] = e.onOurs(t)
	}
	nearResult(t, "parts of two", got[0], got[1], 1e-12)
}

// takes reports whether x itself is an argument of an attention before out.
func takes(out, x *G.Node) bool {
	for _, n := range out.Graph().AllNodes() {
		if n.Op() == nil || fmt.Sprint(n.Op()) != "FusedAttention" {
			continue
		}
		for it := n.Graph().From(n.ID()); it.Next(); {
			if it.Node().(*G.Node) == x {
				return true
			}
		}
	}
	return false
}

// Packed heads give the bits of separate heads, for non-finite numbers, too.
func TestPackedHeadsHaveTheBitsOfOthers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDrawing(rt)
		dt := pick(d, "type", tolerances...).dt
		c := graph.AttentionConfig{KVHeads: d.int("K", 1, 3), Softcap: pick(d, "softcap", 0, 3.)}
		c.Heads = c.KVHeads * d.int("group", 1, 3)
		c.Mask = pick[mask.Mask](d, "mask", nil, mask.Causal{}, mask.SlidingWindow{Left: 3, Right: 1},
			mask.And(mask.Causal{}, mask.Not(mask.SlidingWindow{Left: 40})))
		T, D, Dv := pick(d, "T", 1, 2, 5, 33, 70, 131), d.int("D", 2, 20), d.int("Dv", 2, 20)
		widths := []int{c.Heads * D, c.KVHeads * D, c.KVHeads * Dv}
		x := normal(d.r, d.int("B", 1, 2), T, widths[0]+widths[1]+widths[2])
		for range d.int("planted", 0, 3) {
			x.v[d.r.IntN(len(x.v))] = pick(d, "number", nan, inf, -inf)
		}
		in := inputs(x)
		if d.flag("drops") {
			c.Dropout = graph.DropoutConfig{P: 0.4, Site: 1}
			in = append(in, key(7))
		}
		dout := normal(d.r, x.shape[0], T, c.Heads*Dv)
		var got [2]result
		for i, op := range []func(in G.Nodes) (*G.Node, error){
			splitFor(fusedBy(c), widths, [3]int{0, 1, 2}, nil), packedFor(c, widths, nil),
		} {
			e := express(t, op, in, dt)
			e.differentiate(t, in, dout, dt)
			got[i] = e.onOurs(t)
		}
		requireSame(shrinking{t, rt}, got[0], got[1])
	})
}
