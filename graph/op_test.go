package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// tolerances: the sums of these tests have at most a few hundred terms of size 1,
// each rounded by 1e-16 (float64) or 6e-8 (float32) of itself, and the float32
// inputs are rounded once more.
var tolerances = []struct {
	dt  tensor.Dtype
	tol float64
}{{dt: tensor.Float64, tol: 1e-12}, {dt: tensor.Float32, tol: 1e-5}}

func TestOpsEqualPlainLoops(t *testing.T) {
	for _, c := range opCases() {
		if c.want == nil {
			continue
		}
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				in := c.in(rand.New(rand.NewPCG(1, 2)))
				got := express(t, c.op, in, p.dt).onOurs(t)
				var plain []array
				for _, x := range in {
					plain = append(plain, x.array)
				}
				near(t, c.name, c.want(plain), got.out, p.tol)
			})
		}
	}
}

// allCases returns opCases and the gradient cases, which have no oracle.
func allCases() []opCase {
	cases := opCases()
	for _, c := range gradcases.Cases() {
		cases = append(cases, opCase{name: c.Name(), op: c.Apply, in: func(r *rand.Rand) (in []input) {
			for _, x := range c.Inputs {
				switch a := (array{shape: x.Shape, v: x.Floats}); {
				case x.IDs != nil:
					for _, id := range x.IDs {
						a.v = append(a.v, float64(id))
					}
					in = append(in, input{array: a, integer: true})
				case x.Floats != nil:
					in = append(in, input{array: a, fixed: true})
				default:
					in = append(in, input{array: normal(r, x.Shape...), fixed: x.Constant})
				}
			}
			return in
		}})
	}
	return cases
}

// Gorgonia's machine and ours must give the same bits: forward and gradients.
func TestOpsAreEqualOnBothMachines(t *testing.T) {
	for _, c := range allCases() {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 4))
				in := c.in(r)
				e := express(t, c.op, in, p.dt)
				e.differentiate(t, in, normal(r, e.out.Shape()...), p.dt)
				ours, tape := e.onOurs(t), e.onTape(t)
				require.Equal(t, tape.out.shape, ours.out.shape)
				require.Equal(t, bits(tape.out), bits(ours.out), "forward")
				require.Equal(t, len(tape.grads), len(ours.grads))
				for i := range tape.grads {
					require.Equal(t, tape.grads[i].shape, ours.grads[i].shape)
					require.Equal(t, bits(tape.grads[i]), bits(ours.grads[i]), "gradient %d", i)
				}
			})
		}
	}
}

// A machine may hand an op memory that holds anything, or that of an input that
// nobody needs any more: every op, forward and backward, fills all of it, and changes
// no other input.
func TestOpsOverwriteTheirMemory(t *testing.T) {
	found := 0
	for _, c := range allCases() {
		for _, p := range tolerances {
			r := rand.New(rand.NewPCG(5, 6))
			in := c.in(r)
			e := express(t, c.op, in, p.dt)
			e.differentiate(t, in, normal(r, e.out.Shape()...), p.dt)
			found += overwriteAll(t, e.g)
		}
	}
	require.Greater(t, found, 300) // forward and backward ops, in both types
}

// overwriteAll computes every op of the graph in all ways, and returns how many it
// found that can overwrite.
func overwriteAll(t *testing.T, g *G.ExprGraph) (found int) {
	t.Helper()
	values := map[*G.Node]G.Value{}
	for _, n := range g.AllNodes() { // an op comes after its inputs
		if n.Op() == nil {
			values[n] = n.Value()
			continue
		}
		var in []G.Value
		for it := g.From(n.ID()); it.Next(); {
			in = append(in, values[it.Node().(*G.Node)])
		}
		var err error
		values[n], err = n.Op().Do(in...)
		require.NoError(t, err)
		op, ok := n.Op().(machine.Overwriter)
		if !ok || n.Shape().IsScalar() {
			continue
		}
		found++
		require.True(t, op.OverwritesPrealloc())
		full := zeros(n.Shape()...)
		for i := range full.v {
			full.v[i] = math.NaN()
		}
		overwrite(t, n, full.dense(n.Dtype()), in, values[n])
		if k := op.InPlace(); k >= 0 {
			own := slices.Clone(in)
			own[k] = clone(t, in[k])
			overwrite(t, n, own[k].(*tensor.Dense), own, values[n])
			overwriteOne(t, n, k, in)
		}
	}
	return found
}

// overwriteOne has one and the same tensor as every input that can be it, and
// computes into that.
func overwriteOne(t *testing.T, n *G.Node, k int, in []G.Value) {
	t.Helper()
	one, apart := clone(t, in[k]).(*tensor.Dense), slices.Clone(in)
	same := slices.Clone(in)
	for i, v := range in {
		if v.Dtype() == one.Dtype() && slices.Equal(v.Shape(), one.Shape()) {
			same[i], apart[i] = one, clone(t, one)
		}
	}
	want, err := n.Op().Do(apart...)
	require.NoError(t, err)
	overwrite(t, n, one, same, want)
}

// overwrite computes n into the memory given.
func overwrite(t *testing.T, n *G.Node, into *tensor.Dense, in []G.Value, want G.Value) {
	t.Helper()
	var before []G.Value
	for _, v := range in {
		before = append(before, clone(t, v))
	}
	got, err := n.Op().(machine.Overwriter).UsePreallocDo(into, in...)
	require.NoError(t, err)
	require.Same(t, into, got, "%v", n)
	require.Equal(t, bits(arrayOf(t, want)), bits(arrayOf(t, got)), "%v", n)
	for i, v := range in {
		if v != G.Value(into) {
			require.Equal(t, fmt.Sprint(before[i].Data()), fmt.Sprint(v.Data()), "%v changed input %d", n, i)
		}
	}
}

func clone(t *testing.T, v G.Value) G.Value {
	t.Helper()
	c, err := G.CloneValue(v)
	require.NoError(t, err)
	return c
}

// Gorgonia merges nodes whose ops print alike: every setting must show.
func TestDifferentSettingsAreDifferentNodes(t *testing.T) {
	g := G.NewGraph()
	x, w := node(g, "x", normal(random(1), 6, 6), tensor.Float64), node(g, "w", normal(random(2), 6), tensor.Float64)
	ops := map[string]func() (*G.Node, error){}
	for _, name := range []string{"LayerNorm", "RMSNorm", "L2Norm"} {
		for _, eps := range []float64{1e-5, 1e-5 + 1e-12} {
			ops[fmt.Sprint(name, eps)] = func() (*G.Node, error) { return normBy(name, eps)(x, w) }
		}
	}
	ops["LayerNorm, bias"] = func() (*G.Node, error) { return graph.LayerNorm(x, w, w, 1e-5) }
	for name, op := range map[string]func(x *G.Node) (*G.Node, error){
		"GELU": graph.GELU, "GELUTanh": graph.GELUTanh, "SiLU": graph.SiLU, "Sigmoid": graph.Sigmoid,
		"Softcap 30": softcapBy(30), "Softcap 50": softcapBy(50), "Transpose": graph.Transpose,
		"Rows 0, 1": rowsBy(0, 1), "Rows 1, 1": rowsBy(1, 1), "Rows 0, 2": rowsBy(0, 2), "Rows 0, 6": rowsBy(0, 6),
		"Split 1": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 1, 5)) },
		"Split 2": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 2, 4)) },
		"Split 6": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 6)) },
	} {
		ops[name] = func() (*G.Node, error) { return op(x) }
	}
	seen := map[*G.Node]string{}
	for name, op := range ops {
		n, err := op()
		require.NoError(t, err, name)
		require.Empty(t, seen[n], "%s is the same node", name)
		seen[n] = name
		again, err := op()
		require.NoError(t, err, name)
		require.Same(t, n, again, name)
	}
}

func firstOf(parts G.Nodes, err error) (*G.Node, error) {
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}

// A NaN anywhere in a query's score shows in its output and in no other's.
func TestNaNGoesThrough(t *testing.T) {
	for _, c := range []graph.AttentionConfig{{}, {Mask: mask.Causal{}}, {Mask: mask.Causal{}, Renormalize: true}} {
		for bad := range 4 {
			q := of([]float64{1, 2, 3, 4}, 4, 1)
			k, v := of([]float64{4, 3, 2, 1}, 4, 1), of([]float64{1, 2, 3, 4}, 4, 1)
			q.v[bad] = nan
			out, _ := attend(t, c, q, k, v)
			for i, y := range out.v {
				require.Equal(t, i == bad, math.IsNaN(y), "%+v, NaN in query %d, output %d is %v", c, bad, i, y)
			}
		}
	}
}
