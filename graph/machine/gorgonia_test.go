package machine_test

import (
	"fmt"
	"reflect"
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The facts about Gorgonia's unexported parts that the machine relies on.
func TestGorgoniaIsAsForGraphKnowsIt(t *testing.T) {
	value := reflect.TypeFor[G.Value]()
	bound, ok := reflect.TypeFor[G.Node]().FieldByName("boundTo")
	require.True(t, ok)
	require.Equal(t, value, bound.Type)
	group, ok := reflect.TypeFor[G.Node]().FieldByName("group")
	require.True(t, ok)
	require.Equal(t, reflect.TypeFor[string](), group.Type)

	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2))
	var into G.Value
	read := G.Read(x, &into).Op()
	require.Equal(t, "gorgonia.readOp", fmt.Sprintf("%T", read))
	require.Equal(t, reflect.PointerTo(value), reflect.TypeOf(read).Field(0).Type)
	cache, ok := reflect.TypeFor[G.AdamSolver]().FieldByName("cache")
	require.True(t, ok)
	require.Equal(t, "[]*gorgonia.dualValue", cache.Type.String())
	dual := cache.Type.Elem().Elem()
	for _, name := range []string{"Value", "d"} {
		f, ok := dual.FieldByName(name)
		require.True(t, ok)
		require.Equal(t, value, f.Type)
	}
	mode, ok := reflect.TypeFor[G.BatchNormOp]().FieldByName("training")
	require.True(t, ok)
	require.Equal(t, reflect.Bool, mode.Type.Kind())
	drop := reflect.TypeOf(G.Must(G.Dropout(x, 0.5)).Op()).Elem()
	mode, ok = drop.FieldByName("isTraining")
	require.True(t, ok)
	require.Equal(t, reflect.Bool, mode.Type.Kind())
	require.Equal(t, "gorgonia.letOp", fmt.Sprintf("%T", G.Set(x, x).Op()))
	require.Equal(t, "gorgonia.constantScalar", fmt.Sprintf("%T", G.NewConstant(1.0).Op()))
	require.Equal(t, "gorgonia.constantTensor", fmt.Sprintf("%T", G.NewConstant(ramp(tensor.Float64, 2)).Op()))
}

// The graphs that Gorgonia builds wrongly according to the package's doc, and the ways around them.
func TestGorgoniaMergesNodes(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 600))
	require.True(t, G.Must(G.SoftMax(x)) == G.Must(G.LogSoftMax(x)))
	require.True(t, G.Must(G.Dropout(x, 0.1)) == G.Must(G.Dropout(x, 0.7)))
	require.True(t, G.Must(G.Slice(x, G.S(0, 2))) == G.Must(G.Slice(x, G.S(256, 258))))
	named := func() *G.Node { return G.NewVector(g, tensor.Float64, G.WithShape(3), G.WithName("z")) }
	first := named()
	require.Same(t, first, named())
	constant := func(last float64) *G.Node {
		v := make([]float64, 1000)
		v[500] = last
		return g.AddNode(G.NewConstant(tensor.New(tensor.WithBacking(v))))
	}
	require.True(t, constant(1) == constant(2))
}

// The faults that the package's doc lists as not repaired.
func TestGorgoniaIsWrong(t *testing.T) {
	run := func(n *G.Node) []float64 {
		m, err := machine.New(n)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		return numbers(n.Value())
	}
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float64, 2)), input(g, "y", ramp(tensor.Float64, 2))
	up := input(g, "up", ramp(tensor.Float64, 2, 2))
	grads, err := G.Grad(G.Must(G.Sum(G.Must(G.HadamardProd(G.Must(G.OuterProd(x, y)), up)))), x)
	require.NoError(t, err)
	require.NotEqual(t, []float64{1*1 + 2*2, 1*3 + 2*4}, run(grads[0]))

	image := input(g, "image", ramp(tensor.Float64, 1, 1, 1, 6))
	require.Equal(t, []float64{2, 4, 6}, run(G.Must(G.AveragePool1D(image, 2, 0, 2))))
	mean := run(G.Must(G.AveragePool2D(image, tensor.Shape{1, 2}, []int{0, 0}, []int{1, 2})))
	require.InDeltaSlice(t, []float64{3. / 6, 7. / 6, 11. / 6}, mean, 1e-12)
}

// On the tape machine Sub overwrites the memory that Reshape shares with Tanh, and Tanh's gradient reads it: the loss
// rises. On our machine the loss falls.
func TestTanhReshapeSubSquareTrains(t *testing.T) {
	train := func(machineOf func(g *G.ExprGraph, w *G.Node) G.VM) (first, last float64) {
		g := G.NewGraph()
		w := input(g, "w", tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{0.1, 0.2, -0.3, 0.4})))
		target := input(g, "target", tensor.New(tensor.WithBacking([]float64{0.9, 0.8, 0.7, 0.6})))
		flat := G.Must(G.Reshape(G.Must(G.Tanh(w)), tensor.Shape{4}))
		loss := G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(flat, target))))))
		_, err := G.Grad(loss, w)
		require.NoError(t, err)
		var read G.Value
		G.Read(loss, &read)
		m := machineOf(g, w)
		defer m.Close()
		solver := G.NewVanillaSolver(G.WithLearnRate(1))
		for i := range 50 {
			require.NoError(t, m.RunAll())
			require.NoError(t, solver.Step(G.NodesToValueGrads(G.Nodes{w})))
			m.Reset()
			last = numbers(read)[0]
			if i == 0 {
				first = last
			}
		}
		return first, last
	}
	first, last := train(func(g *G.ExprGraph, _ *G.Node) G.VM {
		m, err := machine.ForGraph(g)
		require.NoError(t, err)
		return m
	})
	require.Less(t, last, first/100)
	tapeFirst, tapeLast := train(func(g *G.ExprGraph, w *G.Node) G.VM { return G.NewTapeMachine(g, G.BindDualValues(w)) })
	require.InDelta(t, first, tapeFirst, 1e-12)
	require.Greater(t, tapeLast, tapeFirst)
}
