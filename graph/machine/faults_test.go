package machine_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// faults lists the faults of Gorgonia's tape machine: the README's text about each, and a graph that shows it.
var faults = []struct {
	says, name string
	shape      tensor.Shape
	values     func(i int) float64
	of         func(x *G.Node) (*G.Node, error)
	want       func(x []float64) []float64 // the first numbers
}{
	{"add the numbers sequentially", "Mean of float32", tensor.Shape{2, 1024, 768}, rippled,
		func(x *G.Node) (*G.Node, error) { return G.Mean(G.Must(G.Square(x))) }, meanSquare},
	{"over axis 2 of four", "Sum of an inner axis", tensor.Shape{2, 3, 4, 5}, counted,
		func(x *G.Node) (*G.Node, error) { return G.Sum(x, 2) },
		func([]float64) []float64 { return []float64{30, 34, 38, 42, 46, 110} }},
	{"takes each row's maximum from the tensor's first element", "SoftMax of rows of different size", tensor.Shape{2, 3},
		func(i int) float64 { return []float64{0, 0, 0, 1000, 0, 0}[i] },
		func(x *G.Node) (*G.Node, error) { return G.SoftMax(x) },
		func([]float64) []float64 { return []float64{1. / 3, 1. / 3, 1. / 3, 1, 0, 0} }},
}

func rippled(i int) float64 { return 1 + math.Sin(float64(i))/2 }
func counted(i int) float64 { return float64(i) }

func meanSquare(x []float64) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return []float64{sum / float64(len(x))}
}

// TestFaultsOfTheTapeMachine: the tape machine is wrong where the README says so, and ours is right.
func TestFaultsOfTheTapeMachine(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	section := strings.Join(strings.Fields(string(readme)), " ")
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			require.Contains(t, section, f.says)
			numbers := make([]float32, f.shape.TotalSize())
			x := make([]float64, len(numbers))
			for i := range numbers {
				numbers[i] = float32(f.values(i))
				x[i] = float64(numbers[i])
			}
			want := f.want(x)
			require.Greater(t, farthest(t, f.of, f.shape, numbers, want, tapeMachine), 1e-4)
			require.Less(t, farthest(t, f.of, f.shape, numbers, want, machineForGraph), 1e-6)
		})
	}
}

// farthest returns the largest relative error of the first numbers of a function's value; NaN counts as an infinite
// error.
func farthest(t *testing.T, of func(*G.Node) (*G.Node, error), shape tensor.Shape, numbers []float32, want []float64,
	vm func(t *testing.T, g *G.ExprGraph) G.VM) (most float64) {
	g := G.NewGraph()
	x := G.NewTensor(g, tensor.Float32, shape.Dims(), G.WithShape(shape...), G.WithName("x"),
		G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(numbers))))
	y, err := of(x)
	require.NoError(t, err)
	var value G.Value
	G.Read(y, &value)
	require.NoError(t, vm(t, g).RunAll())
	got := dense.Float64s(value)
	for i := range want {
		off := math.Abs(got[i]-want[i]) / max(1, math.Abs(want[i]))
		if math.IsNaN(off) {
			off = math.Inf(1)
		}
		most = max(most, off)
	}
	return most
}

func tapeMachine(_ *testing.T, g *G.ExprGraph) G.VM { return G.NewTapeMachine(g) }

func machineForGraph(t *testing.T, g *G.ExprGraph) G.VM {
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	return m
}

// TestTapeMachineTrainsUphill: Reshape shares the memory of tanh's result, Sub overwrites it, and tanh's gradient reads
// what Sub has left there.
func TestTapeMachineTrainsUphill(t *testing.T) {
	begin, end := trainReshaped(t, tapeMachine)
	require.Greater(t, end, 2*begin)
	begin, end = trainReshaped(t, machineForGraph)
	require.Less(t, end, begin/100)
}

// trainReshaped trains reshaped tanhs to be ½, and returns the loss before and after 100 steps.
func trainReshaped(t *testing.T, vm func(t *testing.T, g *G.ExprGraph) G.VM) (begin, end float64) {
	g, numbers, half := G.NewGraph(), make([]float64, 12), make([]float64, 12)
	for i := range numbers {
		numbers[i], half[i] = math.Sin(float64(i)), 0.5
	}
	w := G.NewMatrix(g, tensor.Float64, G.WithShape(3, 4), G.WithName("w"),
		G.WithValue(tensor.New(tensor.WithShape(3, 4), tensor.WithBacking(numbers))))
	y := G.NewVector(g, tensor.Float64, G.WithShape(12), G.WithName("y"),
		G.WithValue(tensor.New(tensor.WithShape(12), tensor.WithBacking(half))))
	r := G.Must(G.Reshape(G.Must(G.Tanh(w)), tensor.Shape{12}))
	loss := G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(r, y))))))
	_, err := G.Grad(loss, w)
	require.NoError(t, err)
	m, solver := vm(t, g), G.NewVanillaSolver(G.WithLearnRate(0.5))
	for step := range 100 {
		require.NoError(t, m.RunAll())
		end = loss.Value().Data().(float64)
		if step == 0 {
			begin = end
		}
		require.NoError(t, solver.Step(G.NodesToValueGrads(G.Nodes{w})))
		m.Reset()
	}
	return begin, end
}
