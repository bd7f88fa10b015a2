package machine_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// naive computes the nodes of a graph in float64, one by one and each from copies of its inputs: with loops of its own
// where Gorgonia's op is wrong, otherwise with Gorgonia's op.
type naive struct {
	t      require.TestingT
	values map[*G.Node]G.Value
	// The distance below which rounding decides between two numbers, or on which side of a jump a number is.
	tie string
}

// naively returns the values of all nodes of a graph from its inputs' values.
func naively(t require.TestingT, g *G.ExprGraph) *naive {
	o := &naive{t: t, values: map[*G.Node]G.Value{}}
	for _, n := range g.AllNodes() { // an op comes after its inputs
		if n.Op() == nil {
			o.values[n] = o.shaped(n, n.Value())
			continue
		}
		var in []G.Value
		for _, x := range inputsOf(n) {
			v, err := G.CloneValue(o.values[x])
			require.NoError(t, err)
			in = append(in, v)
		}
		o.values[n] = o.shaped(n, o.compute(n, in))
	}
	return o
}

// shaped returns a value as float64 in the node's shape; integers and bools keep their type.
func (o *naive) shaped(n *G.Node, v G.Value) G.Value {
	if v == nil || v.Dtype() != tensor.Float32 && v.Dtype() != tensor.Float64 {
		return v
	}
	all := numbers(v)
	require.Len(o.t, all, n.Shape().TotalSize(), "%v", n)
	if n.Shape().IsScalar() {
		return G.NewF64(all[0])
	}
	return golden.Dense(tensor.Float64, all, n.Shape()...)
}

func (o *naive) compute(n *G.Node, in []G.Value) G.Value {
	text := n.Op().String()
	switch kind := fmt.Sprintf("%T", n.Op()); kind {
	case "gorgonia.sumOp":
		return o.reduce(n, in[0], strings.TrimPrefix(text, "Σ"), 0, func(x, y float64) float64 { return x + y })
	case "*gorgonia.maxOp":
		return o.reduce(n, in[0], strings.TrimPrefix(text, "MaxAlong"), math.Inf(-1), math.Max)
	case "*gorgonia.softmaxOp":
		return softmaxLoop(o, text, in[0])
	case "*gorgonia.softmaxDiffOp":
		return softmaxBackwardLoop(o, text, in[1], in[2])
	case "*gorgonia.byIndicesOp", "*gorgonia.byIndicesOpDiffOp":
		return o.lookup(n, text, in)
	case "*gorgonia.BatchNormOp", "*gorgonia.batchnormDiffOp":
		return o.batchNorm(in)
	case "*gorgonia.maxPoolOp", "*gorgonia.maxPoolDiffOp":
		return o.maxPool(n, text, in)
	case "gorgonia.elemUnaryOp", "gorgonia.elemBinOp":
		return o.element(n, text, in)
	}
	v, err := n.Op().Do(in...)
	require.NoError(o.t, err, "%v", n)
	return v
}

// close reports near ties: numbers that are nearly equal, but not equal.
func (o *naive) close(what string, x, y float64) {
	if d := math.Abs(x - y); d > 0 && d < 1e-4*(1+math.Abs(x)) {
		o.tie = fmt.Sprintf("%s of %v and %v", what, x, y)
	}
}

// reduce combines the elements along axes: "[0 2]".
func (o *naive) reduce(n *G.Node, in G.Value, axes string, from float64, f func(x, y float64) float64) G.Value {
	shape := in.Shape()
	along := make([]bool, len(shape))
	for axis := range along {
		along[axis] = slices.Contains(strings.Fields(strings.Trim(axes, "[]")), fmt.Sprint(axis))
	}
	out := make([]float64, n.Shape().TotalSize())
	for i := range out {
		out[i] = from
	}
	for i, v := range numbers(in) {
		to, step := 0, 1
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if !along[axis] {
				to += i % shape[axis] * step
				step *= shape[axis]
			}
			i /= shape[axis]
		}
		out[to] = f(out[to], v)
	}
	return tensor.New(tensor.WithBacking(out))
}

// rows calls f for the indices of each row along an axis, the last one for −1.
func rows(shape tensor.Shape, axis int, f func(row []int)) {
	if axis < 0 {
		axis = len(shape) - 1
	}
	step := tensor.Shape(shape[axis+1:]).TotalSize()
	for i := range shape.TotalSize() {
		if i/step%shape[axis] == 0 {
			row := make([]int, shape[axis])
			for k := range row {
				row[k] = i + k*step
			}
			f(row)
		}
	}
}

// softmaxSettings reads "Softmax{axis, log}()".
func softmaxSettings(text string) (axis int, log bool) {
	_, text, _ = strings.Cut(text, "{")
	_, err := fmt.Sscanf(text, "%d, %t}()", &axis, &log)
	if err != nil {
		panic(err)
	}
	return axis, log
}

func softmaxLoop(o *naive, text string, in G.Value) G.Value {
	axis, log := softmaxSettings(text)
	x := numbers(in)
	y := make([]float64, len(x))
	rows(in.Shape(), axis, func(row []int) {
		top, sum := math.Inf(-1), 0.0
		for _, i := range row {
			top = math.Max(top, x[i])
		}
		for _, i := range row {
			sum += math.Exp(x[i] - top)
		}
		for _, i := range row {
			y[i] = x[i] - top - math.Log(sum)
			if !log {
				y[i] = math.Exp(y[i])
			}
		}
	})
	return golden.Dense(tensor.Float64, y, in.Shape()...)
}

func softmaxBackwardLoop(o *naive, text string, out, gradient G.Value) G.Value {
	axis, log := softmaxSettings(text)
	y, dy := numbers(out), numbers(gradient)
	dx := make([]float64, len(y))
	rows(out.Shape(), axis, func(row []int) {
		sum := 0.0
		for _, i := range row {
			if log {
				sum += dy[i]
			} else {
				sum += y[i] * dy[i]
			}
		}
		for _, i := range row {
			if log {
				dx[i] = dy[i] - math.Exp(y[i])*sum
			} else {
				dx[i] = y[i] * (dy[i] - sum)
			}
		}
	})
	return golden.Dense(tensor.Float64, dx, out.Shape()...)
}

// maxPool computes a pooling op or its gradient.
func (o *naive) maxPool(n *G.Node, text string, in []G.Value) G.Value {
	var size, pad, stride [2]int
	_, err := fmt.Sscanf(text[strings.Index(text, "("):], "(kernel: (%d, %d), pad: (%d, %d), stride: (%d, %d))",
		&size[0], &size[1], &pad[0], &pad[1], &stride[0], &stride[1])
	require.NoError(o.t, err, text)
	x, image := numbers(in[0]), in[0].Shape()
	small, backward := n.Shape(), len(in) == 3
	if backward {
		small = in[1].Shape()
	}
	pooled, dx := make([]float64, small.TotalSize()), make([]float64, len(x))
	for i := range pooled {
		plane, y, col := i/(small[2]*small[3]), i/small[3]%small[2], i%small[3]
		best := -1
		for j := range x {
			row, at := j/image[3]%image[2]-(y*stride[0]-pad[0]), j%image[3]-(col*stride[1]-pad[1])
			if j/(image[2]*image[3]) != plane || row < 0 || row >= size[0] || at < 0 || at >= size[1] {
				continue
			}
			if best >= 0 {
				o.close("pool", x[best], x[j])
			}
			if best < 0 || x[j] > x[best] {
				best = j
			}
		}
		pooled[i] = x[best]
		if backward {
			dx[best] += numbers(in[2])[i]
		}
	}
	if backward {
		return golden.Dense(tensor.Float64, dx, image...)
	}
	return golden.Dense(tensor.Float64, pooled, small...)
}

// lookup computes "ByIndicesOp{axis=1}" of x and indices, or "ByIndicesOpDiff{}(1)" of x, a gradient and indices.
func (o *naive) lookup(n *G.Node, text string, in []G.Value) G.Value {
	axis := int(text[strings.IndexAny(text, "0123456789")] - '0')
	which := in[len(in)-1].Data().([]int)
	x, backward := in[0], len(in) == 3
	y, long, short := make([]float64, n.Shape().TotalSize()), x.Shape()[axis], len(which)
	from := numbers(in[len(in)-2])
	inner := tensor.Shape(x.Shape()[axis+1:]).TotalSize()
	for outer := range tensor.Shape(x.Shape()[:axis]).TotalSize() {
		for k, index := range which {
			for i := range inner {
				large, small := (outer*long+index)*inner+i, (outer*short+k)*inner+i
				if backward {
					y[large] += from[small]
				} else {
					y[small] = from[large]
				}
			}
		}
	}
	return golden.Dense(tensor.Float64, y, n.Shape()...)
}
