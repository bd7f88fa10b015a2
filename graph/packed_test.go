package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// packedBy splits x into queries, keys and values, in the given order of the three, and
// lets an attention have them; uses adds what else is made of the parts.
func packedBy(attend func(in G.Nodes) (*G.Node, error), widths []int, order [3]int, uses func(parts G.Nodes, out *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
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

// Queries, keys and values that lie side by side in one tensor give what they give
// apart, forward and in the gradients.
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
		{"heads", graph.AttentionConfig{Heads: 3, Mask: graph.Causal{}}, []int{2, 5, 63}, []int{21, 21, 21}, inOrder, nil, true},
		{"one head", graph.AttentionConfig{Heads: 1}, []int{5, 21}, []int{7, 7, 7}, inOrder, nil, true},
		{"leading axes", graph.AttentionConfig{Heads: 2}, []int{2, 3, 5, 22}, []int{6, 6, 10}, inOrder, nil, true},
		{"grouped heads", graph.AttentionConfig{Heads: 6, KVHeads: 2, Mask: graph.Causal{}}, []int{2, 5, 62}, []int{42, 14, 6}, inOrder, nil, true},
		{"many tiles", graph.AttentionConfig{Heads: 2, Mask: graph.Causal{}}, []int{300, 42}, []int{14, 14, 14}, inOrder, nil, true},
		{"dropout", graph.AttentionConfig{Heads: 2, Softcap: 3, Dropout: graph.DropoutConfig{P: 0.4, Site: 3}}, []int{2, 7, 42}, []int{14, 14, 14}, inOrder, nil, true},
		{"a part used twice", graph.AttentionConfig{Heads: 3}, []int{2, 5, 63}, []int{21, 21, 21}, inOrder, addValues, true},
		{"another order", graph.AttentionConfig{Heads: 3}, []int{2, 5, 63}, []int{21, 21, 21}, [3]int{1, 0, 2}, nil, false},
		{"one part for all", graph.AttentionConfig{Heads: 3}, []int{2, 5, 63}, []int{21, 21, 21}, [3]int{0, 0, 0}, nil, false},
		{"a part too many", graph.AttentionConfig{Heads: 3}, []int{2, 5, 70}, []int{21, 21, 21, 7}, inOrder, nil, false},
		{"no heads in a row", graph.AttentionConfig{}, []int{2, 5, 21}, []int{7, 7, 7}, inOrder, nil, false},
	} {
		in := floats(normal(r, row.shape...))
		if row.c.Dropout.P > 0 {
			in = append(in, key(77))
		}
		for _, p := range tolerances {
			fused := express(t, packedBy(fusedBy(row.c), row.widths, row.order, row.uses), in, p.dt)
			composed := express(t, packedBy(composedBy(row.c), row.widths, row.order, row.uses), in, p.dt)
			require.Equal(t, row.packed, takes(fused.out, fused.in[0]), row.name)
			dout := normal(rand.New(rand.NewPCG(9, 9)), fused.out.Shape()...)
			fused.differentiate(t, in, dout, p.dt)
			composed.differentiate(t, in, dout, p.dt)
			nearResult(t, fmt.Sprintf("%s, %v", row.name, p.dt), composed.onOurs(t), fused.onOurs(t), 10*p.tol)
			if p.dt == tensor.Float64 {
				nearResult(t, row.name+" on the tape machine", composed.onOurs(t), fused.onTape(t), 10*p.tol)
			}
		}
	}
}

// Parts of two tensors are not read from one of them.
func TestFusedAttentionOfPartsOfTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in := floats(normal(r, 2, 5, 63), normal(r, 2, 5, 63))
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

// takes says whether an attention that leads to out has x itself as an argument.
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
