package machine_test

import (
	"testing"
	"time"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// chain returns n softmaxes of scaled values: 2·n values of one size.
func chain(t *testing.T, n int, shape ...int) *G.Node {
	t.Helper()
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, shape...))
	for i := range n {
		x = must(t)(graph.Softmax(must(t)(graph.Scale(x, 1/float64(i+1)))))
	}
	return x
}

// A chain of any length needs memory for one value, since its ops compute in place.
func TestAChainNeedsOneValue(t *testing.T) {
	for _, n := range []int{1, 10} {
		m, err := machine.New(chain(t, n, 3, 5))
		require.NoError(t, err)
		require.Equal(t, machine.Memory{Planned: 3 * 5 * 8, Sum: 2 * n * 3 * 5 * 8}, m.Memory())
	}
}

// Ops that cannot compute in place alternate between two slabs.
func TestTwoValuesTakeTurns(t *testing.T) {
	g := G.NewGraph()
	w := input(g, "w", ramp(tensor.Float32, 4, 4))
	x := w
	for range 10 {
		x = must(t)(graph.MatMul(x, w))
	}
	m, err := machine.New(x)
	require.NoError(t, err)
	require.Equal(t, machine.Memory{Planned: 2 * 16 * 4, Sum: 10 * 16 * 4}, m.Memory())
}

// A whole training step of attention takes much less than the sum of its values.
func TestAttentionReusesMemory(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float32, 2, 3, 11, 5))
	y := x
	for range 3 {
		out, _, err := graph.Attention(y, y, y, graph.AttentionConfig{Mask: mask.Causal{}})
		require.NoError(t, err)
		y = out
	}
	loss := G.Must(G.Sum(must(t)(graph.Mul(y, y))))
	grads, err := G.Grad(loss, x)
	require.NoError(t, err)
	m, err := machine.New(append(grads, loss)...)
	require.NoError(t, err)
	require.Less(t, m.Memory().Planned, m.Memory().Sum*6/10)
	forward, err := machine.New(loss)
	require.NoError(t, err)
	require.Less(t, forward.Memory().Planned, m.Memory().Planned/2)
}

// Wanted values keep their memory until the next run, wherever they are in the graph.
func TestWantedValuesSurviveTheRun(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 3, 5))
	var all G.Nodes
	y := x
	for range 6 {
		y = must(t)(graph.Softmax(must(t)(graph.Scale(y, 0.5))))
		all = append(all, y)
	}
	want := opByOp(t, g)
	for skip := range all { // any set but one
		wanted := append(append(G.Nodes{}, all[:skip]...), all[skip+1:]...)
		m, err := machine.New(wanted...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		for _, n := range wanted {
			require.Equal(t, bits(t, want[n]), bits(t, n.Value()))
		}
	}
}

// The memory of a view is not reused, and an op does not overwrite an input if another of its inputs is a view of it.
func TestViewsAreNotOverwritten(t *testing.T) {
	for name, op := range map[string]func(x, row *G.Node) (*G.Node, error){
		"in place": graph.Add,
		"much later": func(x, row *G.Node) (*G.Node, error) {
			for i := range 5 {
				x = must(t)(graph.Scale(x, float64(i+2)))
			}
			return graph.Add(x, row)
		},
	} {
		g := G.NewGraph()
		x := must(t)(graph.Scale(input(g, "x", ramp(tensor.Float64, 3, 2)), 2))
		y := must(t)(op(x, apply(t, firstRow(tensor.Float64, 2), x)))
		want := opByOp(t, g)
		m, err := machine.New(y)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		require.Equal(t, want[y].Data(), y.Value().Data(), name)
	}
}

// Memory is planned for floats; an op of another type allocates its own.
func TestOverwriterOfIntegers(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 3))
	count := func(into, _ G.Value) (G.Value, error) {
		copy(into.Data().([]int), []int{4, 5, 6})
		return into, nil
	}
	s := stub{"counts", tensor.Shape{3}, tensor.Int, func(x G.Value) (G.Value, error) {
		return count(tensor.New(tensor.Of(tensor.Int), tensor.WithShape(3)), x)
	}}
	n := apply(t, overwriting{s, count}, x)
	m, err := machine.New(n)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Equal(t, []int{4, 5, 6}, n.Value().Data())
	require.Zero(t, m.Memory())
}

// Each stock op that reads one node twice must not double the time to plan.
func TestPlanningIsQuick(t *testing.T) {
	g := G.NewGraph()
	in := input(g, "in", ramp(tensor.Float64, 3))
	x := must(t)(graph.Scale(in, 2))
	y := in
	for range 60 {
		y = G.Must(G.HadamardProd(y, y))
	}
	z := must(t)(graph.Mul(x, y))
	done := make(chan error)
	go func() {
		_, err := machine.New(z)
		done <- err
	}()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		require.FailNow(t, "planning 62 ops takes more than 10 seconds")
	}
}
