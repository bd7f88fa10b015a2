package machine_test

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"attention/graph/machine"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A stockAttention is multi-head attention made only of Gorgonia's own ops, with its loss and gradients.
type stockAttention struct {
	name                   string
	dt                     tensor.Dtype
	batch, t, width, heads int
	maskEverywhere         bool // an additive mask of the scores' shape; otherwise the mask is broadcast
	graph                  *G.ExprGraph
	weights, results       G.Nodes // wanted nodes; the first is the loss
}

// build builds a new graph.
func (a *stockAttention) build(t require.TestingT) {
	mk := func(n *G.Node, err error) *G.Node { require.NoError(t, err); return n }
	a.graph, a.weights = G.NewGraph(), nil
	rows, width := a.batch*a.t, a.width/a.heads
	x := input(a.graph, "x", golden.Dense(a.dt, waves(0.9, rows*a.width), a.batch, a.t, a.width))
	maskShape := []int{1, 1, a.t, a.t}
	if a.maskEverywhere {
		maskShape = []int{a.batch, a.heads, a.t, a.t}
	}
	mask := input(a.graph, "mask", golden.Dense(a.dt, causalMask(maskShape...), maskShape...))
	flat := mk(G.Reshape(x, tensor.Shape{rows, a.width}))
	project := func(name string, x *G.Node) *G.Node {
		w := input(a.graph, name, golden.Dense(a.dt, waves(1/math.Sqrt(float64(a.width)), a.width*a.width), a.width, a.width))
		a.weights = append(a.weights, w)
		return mk(G.Mul(x, w))
	}
	split := func(name string) *G.Node {
		y := mk(G.Reshape(project(name, flat), tensor.Shape{a.batch, a.t, a.heads, width}))
		return mk(G.Transpose(y, 0, 2, 1, 3))
	}
	q, k, v := split("q"), split("k"), split("v")
	scores := mk(G.BatchedMatMul(q, k, false, true))
	var scale any = 1 / math.Sqrt(float64(width))
	if a.dt == tensor.Float32 {
		scale = float32(1 / math.Sqrt(float64(width)))
	}
	scores = mk(G.HadamardProd(scores, G.NewConstant(scale)))
	if a.maskEverywhere {
		scores = mk(G.Add(scores, mask))
	} else {
		scores = mk(G.BroadcastAdd(scores, mask, nil, []byte{0, 1}))
	}
	y := mk(G.BatchedMatMul(mk(G.SoftMax(scores)), v))
	y = mk(G.Reshape(mk(G.Transpose(y, 0, 2, 1, 3)), tensor.Shape{rows, a.width}))
	y = project("o", y)
	loss := mk(G.Mean(mk(G.Square(y))))
	grads, err := G.Grad(loss, a.weights...)
	require.NoError(t, err)
	a.results = append(G.Nodes{loss}, grads...)
}

// waves returns numbers that do not repeat.
func waves(size float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = size * math.Sin(float64(i)*0.7+float64(i%1013))
	}
	return x
}

func causalMask(shape ...int) []float64 {
	n := shape[len(shape)-1]
	x := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range x {
		if i%n > i/n%n {
			x[i] = -1e9
		}
	}
	return x
}

func stockAttentions() []*stockAttention {
	return []*stockAttention{
		{name: "B2 T1024 width 768, mask broadcast", dt: tensor.Float32, batch: 2, t: 1024, width: 768, heads: 12},
		{name: "B2 T1024 width 768, mask as scores", dt: tensor.Float32, batch: 2, t: 1024, width: 768, heads: 12,
			maskEverywhere: true},
		{name: "B32 T32 width 64, mask broadcast", dt: tensor.Float32, batch: 32, t: 32, width: 64, heads: 4},
	}
}

// BenchmarkStockAttention runs attention of Gorgonia's ops on its tape machine and on ours in turns, and reports the
// median times and the peaks of memory.
func BenchmarkStockAttention(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("memory is read from /proc")
	}
	for _, a := range stockAttentions() {
		b.Run(a.name, func(b *testing.B) {
			vms := []struct {
				name string
				make func() G.VM
			}{
				{name: "ours", make: func() G.VM {
					m, err := machine.ForGraph(a.graph)
					require.NoError(b, err)
					return m
				}},
				{name: "tape", make: func() G.VM { return G.NewTapeMachine(a.graph) }},
			}
			var peaks [2]float64
			for i, vm := range vms {
				a.build(b) // new graphs, since nodes keep values of a machine
				peaks[i] = peakOf(b, vm.make())
			}
			a.build(b)
			machines := []G.VM{vms[0].make(), vms[1].make()}
			var times [2][]time.Duration
			for b.Loop() {
				for i, m := range machines {
					start := time.Now()
					require.NoError(b, m.RunAll())
					times[i] = append(times[i], time.Since(start))
					m.Reset()
				}
			}
			for i, vm := range vms {
				slices.Sort(times[i])
				b.ReportMetric(float64(times[i][len(times[i])/2].Microseconds())/1e3, vm.name+"-ms")
				b.ReportMetric(peaks[i], vm.name+"-MB")
				require.NoError(b, machines[i].Close())
			}
			b.ReportMetric(float64(times[1][len(times[1])/2])/float64(times[0][len(times[0])/2]), "tape/ours")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// peakOf returns the largest resident memory of the process during a machine's runs, in MB, including the inputs.
func peakOf(b *testing.B, m G.VM) float64 {
	debug.FreeOSMemory()
	resetPeak(b)
	for range 2 {
		require.NoError(b, m.RunAll())
		m.Reset()
	}
	peak := peakMemory(b)
	require.NoError(b, m.Close())
	return peak
}

// Our machine and the tape machine give the same results.
func TestStockAttention(t *testing.T) {
	for _, everywhere := range []bool{false, true} {
		a := stockAttention{dt: tensor.Float64, batch: 2, t: 5, width: 16, heads: 2, maskEverywhere: everywhere}
		a.build(t)
		var read [5]G.Value
		for i, n := range a.results {
			G.Read(n, &read[i])
		}
		m, err := machine.ForGraph(a.graph)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		got := read
		read = [5]G.Value{}
		tape := G.NewTapeMachine(a.graph)
		require.NoError(t, tape.RunAll())
		require.NoError(t, tape.Close())
		for i := range a.results {
			want, mine := numbers(read[i]), numbers(got[i])
			size := 0.0
			for _, v := range want {
				size = max(size, math.Abs(v))
			}
			require.NotZero(t, size)
			require.InDeltaSlice(t, want, mine, 1e-12*size, "result %d", i)
		}
	}
}

// resetPeak makes the kernel forget the largest memory of the process so far.
func resetPeak(t require.TestingT) {
	require.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
}

// peakMemory returns the largest resident memory of the process, in MB.
func peakMemory(t require.TestingT) float64 {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return float64(kB) / 1024
}
