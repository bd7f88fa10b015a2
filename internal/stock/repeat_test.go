package stock_test

import (
	"fmt"
	"testing"

	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// broadcast returns the second input as Broadcast repeats it for the first.
func broadcast(along ...byte) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		_, y, err := G.Broadcast(in[0], in[1], G.NewBroadcastPattern(nil, along))
		return y, err
	}
}

func repeats() (cases []stockCase) {
	for _, c := range []struct {
		to, from tensor.Shape
		along    []byte
	}{
		{to: tensor.Shape{3, 4}, from: tensor.Shape{4}, along: []byte{0}},
		{to: tensor.Shape{3, 4}, from: tensor.Shape{3}, along: []byte{1}},
		{to: tensor.Shape{3, 4}, from: tensor.Shape{1, 4}, along: []byte{0}},
		{to: tensor.Shape{2, 3, 4}, from: tensor.Shape{2, 1, 4}, along: []byte{1}},
		{to: tensor.Shape{2, 3, 4}, from: tensor.Shape{2, 3, 1}, along: []byte{2}},
		{to: tensor.Shape{2, 3, 4}, from: tensor.Shape{1, 3, 4}, along: []byte{0}},
		{to: tensor.Shape{2, 3, 50, 40}, from: tensor.Shape{1, 1, 50, 40}, along: []byte{0, 1}},
		{to: tensor.Shape{2, 1, 3, 4}, from: tensor.Shape{2, 1, 1, 4}, along: []byte{2}},
		{to: tensor.Shape{70, 300}, from: tensor.Shape{70, 1}, along: []byte{1}},
	} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(c.from, c.to), shapes: []tensor.Shape{c.to, c.from}, by: stock.Loop, noGrad: true,
			build: broadcast(c.along...),
		})
	}
	// The gradient of a sum repeats a number.
	sum := func(shape tensor.Shape, along ...int) stockCase {
		return stockCase{
			name: fmt.Sprint("gradient of sum", shape, along), shapes: []tensor.Shape{shape},
			noGrad: true, by: stock.Kernel,
			build: func(in G.Nodes) (*G.Node, error) {
				grads, err := G.Grad(G.Must(G.Sum(G.Must(G.Square(G.Must(G.Sum(in[0], along...)))))), in[0])
				if err != nil {
					return nil, err
				}
				return G.Neg(grads[0])
			},
		}
	}
	for _, axis := range []int{0, 1} {
		cases = append(cases, sum(tensor.Shape{3, 4}, axis), sum(tensor.Shape{2, 3, 4}, axis))
	}
	return append(cases, sum(tensor.Shape{5}, 0))
}

func TestRepeat(t *testing.T) {
	checkAll(t, repeats())
}

// spreads are arithmetic ops with one or two repeated inputs.
func spreads() (cases []stockCase) {
	type operation func(a, b *G.Node, left, right []byte) (*G.Node, error)
	for name, f := range map[string]operation{
		"Add": G.BroadcastAdd, "Sub": G.BroadcastSub,
		"HadamardProd": G.BroadcastHadamardProd, "HadamardDiv": G.BroadcastHadamardDiv,
	} {
		for _, c := range []struct {
			a, b        tensor.Shape
			left, right []byte
		}{
			{a: tensor.Shape{3, 4}, b: tensor.Shape{1, 4}, right: []byte{0}},
			{a: tensor.Shape{3, 4}, b: tensor.Shape{3, 1}, right: []byte{1}},
			{a: tensor.Shape{3, 1}, b: tensor.Shape{3, 4}, left: []byte{1}},
			{a: tensor.Shape{2, 3, 4}, b: tensor.Shape{2, 1, 4}, right: []byte{1}},
			{a: tensor.Shape{2, 3, 4}, b: tensor.Shape{1, 3, 1}, right: []byte{0, 2}},
			{a: tensor.Shape{1, 1, 3, 70}, b: tensor.Shape{2, 40, 3, 70}, left: []byte{0, 1}},
		} {
			cases = append(cases, stockCase{
				name: fmt.Sprint(name, c.a, c.b), shapes: []tensor.Shape{c.a, c.b}, by: stock.Kernel,
				noGrad: len(c.left)+len(c.right) > 1, // Gorgonia's machine sums wrongly along several axes
				build:  func(in G.Nodes) (*G.Node, error) { return f(in[0], in[1], c.left, c.right) },
			})
		}
	}
	return cases
}

func TestArithmeticWithRepeatedInputs(t *testing.T) {
	checkAll(t, spreads())
}

// Repeated inputs are read in place.
func TestArithmeticReadsThroughRepeats(t *testing.T) {
	c := spreads()[5]
	y, _, _ := c.graph(t, tensor.Float32, asIs)
	for _, n := range stock.Of(y, asBuilt{}).Inputs() {
		require.NotEqual(t, "*gorgonia.repeatOp", fmt.Sprintf("%T", n.Op()))
	}
	for _, c := range spreads() {
		c.noGrad = true
		y, _, values := c.graph(t, tensor.Float32, asIs)
		requireNoAllocations(t, y, values)
	}
}

// The shapes determine the number of repetitions.
func TestRepeatDoesNotReadItsNumber(t *testing.T) {
	y, _, _ := repeats()[0].graph(t, tensor.Float32, asIs)
	require.Equal(t, "*gorgonia.repeatOp", fmt.Sprintf("%T", y.Op()))
	require.Len(t, stock.Of(y, asBuilt{}).Inputs(), 1)
}
