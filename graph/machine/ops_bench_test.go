package machine_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A benchOp is one of Gorgonia's functions, applied to inputs of sizes as in a model.
type benchOp struct {
	name   string
	shapes []tensor.Shape
	build  func(in G.Nodes) (*G.Node, error)
}

var (
	rowsOf = tensor.Shape{512, 512}
	heads  = tensor.Shape{8, 128, 64}
	images = tensor.Shape{8, 16, 28, 28}
)

// benchOps returns every function that the package's doc mentions.
func benchOps() (ops []benchOp) {
	add := func(name string, build func(in G.Nodes) (*G.Node, error), shapes ...tensor.Shape) {
		ops = append(ops, benchOp{name, shapes, build})
	}
	for name, f := range map[string]func(x *G.Node) (*G.Node, error){
		"Abs": G.Abs, "Sign": G.Sign, "Ceil": G.Ceil, "Floor": G.Floor, "Sin": G.Sin, "Cos": G.Cos, "Exp": G.Exp,
		"Log": G.Log, "Log2": G.Log2, "Neg": G.Neg, "Square": G.Square, "Sqrt": G.Sqrt, "Inverse": G.Inverse,
		"InverseSqrt": G.InverseSqrt, "Cube": G.Cube, "Tanh": G.Tanh, "Sigmoid": G.Sigmoid, "Log1p": G.Log1p,
		"Expm1": G.Expm1, "Softplus": G.Softplus,
	} {
		add(name, func(in G.Nodes) (*G.Node, error) { return f(in[0]) }, rowsOf)
	}
	for name, f := range map[string]func(x, y *G.Node) (*G.Node, error){
		"Add": G.Add, "Sub": G.Sub, "HadamardProd": G.HadamardProd, "HadamardDiv": G.HadamardDiv, "Pow": G.Pow,
		"MinBetween": G.MinBetween, "MaxBetween": G.MaxBetween, "Mul": G.Mul,
	} {
		add(name, func(in G.Nodes) (*G.Node, error) { return f(in[0], in[1]) }, rowsOf, rowsOf)
	}
	for name, f := range comparisons {
		add(name, func(in G.Nodes) (*G.Node, error) { return f(in[0], in[1], true) }, rowsOf, rowsOf)
	}
	add("Sum", func(in G.Nodes) (*G.Node, error) { return G.Sum(in[0]) }, rowsOf)
	add("Max", func(in G.Nodes) (*G.Node, error) { return G.Max(in[0], 1) }, rowsOf)
	add("SoftMax", func(in G.Nodes) (*G.Node, error) { return G.SoftMax(in[0]) }, rowsOf)
	add("LogSoftMax", func(in G.Nodes) (*G.Node, error) { return G.LogSoftMax(in[0]) }, rowsOf)
	add("BatchedMatMul", func(in G.Nodes) (*G.Node, error) { return G.BatchedMatMul(in[0], in[1], false, true) }, heads,
		heads)
	add("OuterProd", func(in G.Nodes) (*G.Node, error) { return G.OuterProd(in[0], in[1]) }, tensor.Shape{512},
		tensor.Shape{512})
	add("Tensordot", func(in G.Nodes) (*G.Node, error) { return G.Tensordot([]int{1}, []int{0}, in[0], in[1]) }, rowsOf,
		rowsOf)
	add("Transpose", func(in G.Nodes) (*G.Node, error) { return G.Transpose(in[0], 1, 0, 2) }, heads)
	add("Reshape", func(in G.Nodes) (*G.Node, error) { return G.Reshape(in[0], tensor.Shape{1024, 64}) }, heads)
	add("Slice", func(in G.Nodes) (*G.Node, error) { return G.Slice(in[0], nil, G.S(8, 72)) }, heads)
	add("At", func(in G.Nodes) (*G.Node, error) { return G.At(in[0], 1, 2) }, rowsOf)
	add("Concat", func(in G.Nodes) (*G.Node, error) { return G.Concat(1, in[0], in[1]) }, rowsOf, rowsOf)
	add("Broadcast", func(in G.Nodes) (*G.Node, error) {
		_, y, err := G.Broadcast(in[0], in[1], G.NewBroadcastPattern(nil, []byte{1}))
		return y, err
	}, heads, tensor.Shape{8, 1, 64})
	add("ByIndices", func(in G.Nodes) (*G.Node, error) {
		which := make([]int, 512)
		for i := range which {
			which[i] = i * 7 % 512
		}
		v := tensor.New(tensor.WithShape(512), tensor.WithBacking(which))
		at := G.NewVector(in[0].Graph(), tensor.Int, G.WithName("at"), G.WithShape(512), G.WithValue(v))
		return G.ByIndices(in[0], at, 0)
	}, rowsOf)
	add("Im2Col", func(in G.Nodes) (*G.Node, error) {
		return G.Im2Col(in[0], tensor.Shape{3, 3}, tensor.Shape{1, 1}, tensor.Shape{1, 1}, tensor.Shape{1, 1})
	}, images)
	add("MaxPool2D", func(in G.Nodes) (*G.Node, error) {
		return G.MaxPool2D(in[0], tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})
	}, images)
	add("BatchNorm", func(in G.Nodes) (*G.Node, error) {
		_, _, _, op, err := G.BatchNorm(in[0], in[1], in[2], 0.1, 1e-5)
		if err != nil {
			return nil, err
		}
		return G.ApplyOp(op, in[0]) // without scale and shift
	}, images, tensor.Shape{1, 16, 1, 1}, tensor.Shape{1, 16, 1, 1})
	slices.SortFunc(ops, func(a, b benchOp) int { return strings.Compare(a.name, b.name) })
	return ops
}

// node builds the op and returns the name of the code that computes it, and the values of the inputs.
func (c benchOp) node(t require.TestingT) (n *G.Node, op *stock.Op, ours, theirs []G.Value) {
	g := G.NewGraph()
	var in G.Nodes
	for i, shape := range c.shapes {
		v := make([]float64, shape.TotalSize())
		for j := range v {
			v[j] = 1.5 + math.Sin(float64(i+j)) // positive
		}
		in = append(in, input(g, fmt.Sprint("x", i), golden.Dense(tensor.Float32, v, shape...)))
	}
	n, err := c.build(in)
	require.NoError(t, err, c.name)
	op = stock.Of(n, asBuilt{})
	require.NotNil(t, op, c.name)
	values := func(nodes G.Nodes) (v []G.Value) {
		m, err := machine.New(nodes...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		for _, n := range nodes {
			v = append(v, n.Value())
		}
		return v
	}
	if len(op.Inputs()) > 0 {
		ours = values(op.Inputs())
	}
	return n, op, ours, values(inputsOf(n))
}

// BenchmarkOps measures each op alone, ours and Gorgonia's in turns. The name says which code computes it. It reports
// our median time and allocations per run, and the ratio of Gorgonia's median to ours.
func BenchmarkOps(b *testing.B) {
	for _, c := range benchOps() {
		n, op, ours, theirs := c.node(b)
		b.Run(c.name+"/"+string(op.By()), func(b *testing.B) {
			if op.By() == stock.Nothing {
				b.Skip("nothing to run")
			}
			into := memoryFor(n)
			in := make([]G.Value, len(ours))
			run := func() {
				copy(in, ours)
				_, err := op.UsePreallocDo(into, in...)
				require.NoError(b, err)
			}
			stockRun := func() {
				_, err := n.Op().Do(theirs...)
				require.NoError(b, err)
			}
			var times [2][]time.Duration
			for b.Loop() {
				for i, f := range []func(){run, stockRun} {
					start := time.Now()
					f()
					times[i] = append(times[i], time.Since(start))
				}
			}
			for i := range times {
				slices.Sort(times[i])
			}
			middle := len(times[0]) / 2
			b.ReportMetric(float64(times[0][middle].Nanoseconds()), "ns/op")
			b.ReportMetric(float64(times[1][middle])/float64(times[0][middle]), "gorgonia/ours")
			b.ReportMetric(testing.AllocsPerRun(10, run), "allocs/run")
		})
	}
}

// The package's doc lists each op under the code that computes it.
func TestDocTellsWhatComputesAnOp(t *testing.T) {
	source, err := os.ReadFile("machine.go")
	require.NoError(t, err)
	doc, _, _ := strings.Cut(string(source), "\npackage machine")
	listed := map[stock.By]string{}
	for by, from := range map[stock.By]string{
		stock.Kernel: "By a kernel: ", stock.Loop: "By a loop on all cores: ", stock.Nothing: "By nothing: ",
		stock.Gorgonia: "By Gorgonia itself: ",
	} {
		_, after, ok := strings.Cut(doc, from)
		require.True(t, ok, from)
		list, _, _ := strings.Cut(after, "//   - ")
		words := strings.FieldsFunc(list, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		listed[by] = strings.Join(words, " ") + " "
	}
	for _, c := range benchOps() {
		_, op, _, _ := c.node(t)
		require.Contains(t, " "+listed[op.By()], " "+c.name+" ", "which is computed by a %s", op.By())
	}
	for name := range leftOps {
		name, _, _ = strings.Cut(name, ",")
		require.Contains(t, listed[stock.Gorgonia], name+" ")
	}
}

// The README has a row for each op.
func TestReadmeTellsWhatComputesAnOp(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, c := range benchOps() {
		_, op, _, _ := c.node(t)
		require.Contains(t, string(readme), fmt.Sprintf("\n| %s | %s | 0 |", c.name, op.By()))
	}
	for name := range leftOps {
		require.Regexp(t, `\n\|.*\b`+name+`\b.*\| gorgonia \|`, string(readme))
	}
}
