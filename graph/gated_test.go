package graph_test

import (
	"math"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// gatedUnit is a product of one factor with an activation of the other.
type gatedUnit struct {
	op   func(gate, up *G.Node) (*G.Node, error)
	of   func(x *G.Node) (*G.Node, error)
	want func(x float64) float64
}

var gatedUnits = map[string]gatedUnit{
	"swiglu":     {graph.SwiGLU, graph.SiLU, func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
	"geglu":      {graph.GeGLU, graph.GELU, naiveGELU},
	"geglu_tanh": {graph.GeGLUTanh, graph.GELUTanh, naiveGELUTanh},
}

// A gated unit equals its activation⊙up, and so do its gradients, even if gate and up are one node.
func TestGatedUnitsEqualTheirParts(t *testing.T) {
	in := shapes(s{2, 3, 571}, s{2, 3, 571})(random(1)) // several chunks
	dout := normal(random(2), 2, 3, 571)
	for name, unit := range gatedUnits {
		for _, p := range tolerances {
			for _, up := range []int{1, 0} {
				var got [2]result
				for i, op := range []func(in G.Nodes) (*G.Node, error){
					func(in G.Nodes) (*G.Node, error) { return unit.op(in[0], in[up]) },
					func(in G.Nodes) (*G.Node, error) {
						y, err := unit.of(in[0])
						require.NoError(t, err)
						return graph.Mul(y, in[up])
					}} {
					e := express(t, op, in[:up+1], p.dt)
					e.differentiate(t, in[:up+1], dout, p.dt)
					got[i] = e.onOurs(t)
				}
				nearResult(t, name, got[1], got[0], p.tol)
			}
		}
	}
}

func gatedOf(op func(gate, up *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0], in[1]) }
}

func gatedCases() (cases []opCase) {
	for name, unit := range gatedUnits {
		op := gatedOf(unit.op)
		want := each(func(gate, up float64) float64 { return unit.want(gate) * up })
		cases = append(cases, opCase{name: name, op: op, want: want, in: shapes(s{2, 3, 5}, s{2, 3, 5})},
			opCase{name: name + "_scalar", op: op, want: want, in: shapes(nil, nil)})
	}
	return cases
}
