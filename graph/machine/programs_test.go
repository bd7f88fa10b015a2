package machine_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"attention/graph/machine"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A program trains a model as people write it for the tape machine, on generated data.
type program struct {
	name  string
	build func(t require.TestingT, dt tensor.Dtype, batch int) (g *G.ExprGraph, loss *G.Node, learnables G.Nodes)
}

func programs() []program {
	return []program{{"MLP", buildMLP}, {"convnet", buildConvnet}}
}

// buildMLP builds a perceptron with two hidden layers that classifies the points of two spirals.
func buildMLP(t require.TestingT, dt tensor.Dtype, batch int) (*G.ExprGraph, *G.Node, G.Nodes) {
	points, classes := make([]float64, 2*batch), make([]float64, 2*batch)
	for i := range batch {
		turn := float64(i%2) * math.Pi
		at := 3 * math.Sqrt(float64(i)/float64(batch))
		points[2*i], points[2*i+1] = at*math.Cos(2*at+turn), at*math.Sin(2*at+turn)
		classes[2*i+i%2] = 1
	}
	g := G.NewGraph()
	x, y := input(g, "x", golden.Dense(dt, points, batch, 2)), input(g, "y", golden.Dense(dt, classes, batch, 2))
	var learnables G.Nodes
	layer := func(name string, x *G.Node, out int) *G.Node {
		in := x.Shape()[1]
		w := input(g, "w"+name, golden.Dense(dt, waves(1/math.Sqrt(float64(in)), in*out), in, out))
		b := input(g, "b"+name, golden.Dense(dt, waves(0.1, out), 1, out))
		learnables = append(learnables, w, b)
		return must(t)(G.BroadcastAdd(must(t)(G.Mul(x, w)), b, nil, []byte{0}))
	}
	h := must(t)(G.Tanh(layer("1", x, 64)))
	h = must(t)(G.Rectify(layer("2", h, 64)))
	return g, crossEntropyByHand(t, layer("3", h, 2), y), learnables
}

// crossEntropyByHand is the mean of −Σ y·log(softmax(x)).
func crossEntropyByHand(t require.TestingT, x, y *G.Node) *G.Node {
	p := must(t)(G.SoftMax(x))
	return must(t)(G.Neg(must(t)(G.Mean(must(t)(G.HadamardProd(must(t)(G.Log(p)), y))))))
}

// buildConvnet builds a classifier of pictures with vertical or horizontal stripes: two convolutions, each with max
// pooling.
func buildConvnet(t require.TestingT, dt tensor.Dtype, batch int) (*G.ExprGraph, *G.Node, G.Nodes) {
	const size = 16
	pixels, classes := make([]float64, batch*size*size), make([]float64, 2*batch)
	for i := range pixels {
		image, row, col := i/(size*size), i/size%size, i%size
		along := col
		if image%2 == 1 {
			along = row
		}
		pixels[i] = math.Sin(float64(along)*1.3+float64(image)) + 0.2*math.Sin(float64(i)*0.7)
		classes[2*image+image%2] = 1
	}
	g := G.NewGraph()
	x := input(g, "x", golden.Dense(dt, pixels, batch, 1, size, size))
	y := input(g, "y", golden.Dense(dt, classes, batch, 2))
	var learnables G.Nodes
	weight := func(name string, shape ...int) *G.Node {
		n := tensor.Shape(shape).TotalSize()
		w := input(g, name, golden.Dense(dt, waves(1/math.Sqrt(float64(n/shape[0])), n), shape...))
		learnables = append(learnables, w)
		return w
	}
	convolve := func(x, w *G.Node) *G.Node {
		c := must(t)(G.Conv2d(x, w, tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
		return must(t)(G.MaxPool2D(must(t)(G.Rectify(c)), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	}
	h := convolve(convolve(x, weight("w1", 8, 1, 3, 3)), weight("w2", 16, 8, 3, 3))
	flat := must(t)(G.Reshape(h, tensor.Shape{batch, h.Shape().TotalSize() / batch}))
	return g, crossEntropyByHand(t, must(t)(G.Mul(flat, weight("w3", flat.Shape()[1], 2))), y), learnables
}

// run is a program on one machine.
type run struct {
	vm     G.VM
	loss   *G.Node
	params G.Nodes
	solver G.Solver
}

func (p program) on(t require.TestingT, dt tensor.Dtype, batch int, rate float64, ours bool) run {
	g, loss, params := p.build(t, dt, batch)
	_, err := G.Grad(loss, params...)
	require.NoError(t, err)
	var vm G.VM = G.NewTapeMachine(g, G.BindDualValues(params...))
	if ours {
		vm, err = machine.ForGraph(g)
		require.NoError(t, err)
	}
	return run{vm, loss, params, G.NewRMSPropSolver(G.WithLearnRate(rate))}
}

// step is one step of training, as people write it.
func (r run) step(t require.TestingT) {
	require.NoError(t, r.vm.RunAll())
	require.NoError(t, r.solver.Step(G.NodesToValueGrads(r.params)))
	r.vm.Reset()
}

// A program learns the same weights on our machine as on the tape machine.
func TestPrograms(t *testing.T) {
	for _, p := range programs() {
		tape, ours := p.on(t, tensor.Float64, 10, 0.01, false), p.on(t, tensor.Float64, 10, 0.01, true)
		var first, last float64
		for i := range 30 {
			tape.step(t)
			ours.step(t)
			last = ours.loss.Value().Data().(float64)
			require.InDelta(t, tape.loss.Value().Data(), last, 1e-8, "%s, step %d", p.name, i)
			if i == 0 {
				first = last
			}
		}
		require.Less(t, last, 0.9*first, p.name)
		require.NoError(t, tape.vm.Close())
		require.NoError(t, ours.vm.Close())
	}
}

// BenchmarkPrograms runs steps on the tape machine and on ours in turns and reports the median times.
func BenchmarkPrograms(b *testing.B) {
	for _, p := range programs() {
		b.Run(p.name, func(b *testing.B) {
			var times [2][]float64
			// With a small rate: once a probability is 0, its logarithm turns the weights into NaN, and stock MaxPool2D panics
			// on NaN.
			const rate = 1e-7
			runs := [2]run{p.on(b, tensor.Float32, 64, rate, false), p.on(b, tensor.Float32, 64, rate, true)}
			for range 3 {
				runs[0].step(b)
				runs[1].step(b)
			}
			for b.Loop() {
				for i, r := range runs {
					begin := time.Now()
					r.step(b)
					times[i] = append(times[i], time.Since(begin).Seconds()*1e3)
				}
			}
			for i := range times {
				slices.Sort(times[i])
			}
			tape, ours := times[0][len(times[0])/2], times[1][len(times[1])/2]
			b.ReportMetric(tape, "tape-ms")
			b.ReportMetric(ours, "ours-ms")
			b.ReportMetric(tape/ours, "times-faster")
		})
	}
}
