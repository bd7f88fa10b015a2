package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var broadcasts = []struct{ x, y, want []int }{
	{x: []int{}, y: []int{}, want: []int{}},
	{x: []int{1}, y: []int{}, want: []int{1}},
	{x: []int{7}, y: []int{}, want: []int{7}},
	{x: []int{}, y: []int{7, 3}, want: []int{7, 3}},
	{x: []int{3, 5}, y: []int{3, 5}, want: []int{3, 5}},
	{x: []int{2, 3, 5}, y: []int{5}, want: []int{2, 3, 5}},
	{x: []int{2, 3, 5}, y: []int{3, 1}, want: []int{2, 3, 5}},
	{x: []int{2, 3, 1}, y: []int{1, 5}, want: []int{2, 3, 5}},
	{x: []int{3, 1}, y: []int{5}, want: []int{3, 5}},
	{x: []int{2, 1, 5}, y: []int{2, 3, 5}, want: []int{2, 3, 5}},
	{x: []int{2, 1, 1, 7}, y: []int{3, 5, 1}, want: []int{2, 3, 5, 7}},
	{x: []int{1, 3, 1, 7}, y: []int{2, 1, 5, 1}, want: []int{2, 3, 5, 7}},
	{x: []int{300, 400}, y: []int{400}, want: []int{300, 400}},
	{x: []int{300, 400}, y: []int{300, 1}, want: []int{300, 400}},
}

// at returns where an operand of this shape has its element for element i of the result.
func operandAt(shape, result []int, i int) int {
	at, step := 0, 1
	for axis := 1; axis <= len(result); axis++ {
		index := i % result[len(result)-axis]
		i /= result[len(result)-axis]
		if axis <= len(shape) {
			if n := shape[len(shape)-axis]; n > 1 {
				at += index * step
				step *= n
			}
		}
	}
	return at
}

func testArithmetic[F Float](t *testing.T) {
	ops := []func(x, y F) F{
		Plus: func(x, y F) F { return x + y }, Minus: func(x, y F) F { return x - y },
		Times: func(x, y F) F { return x * y }, Over: func(x, y F) F { return x / y },
	}
	r := rand.New(rand.NewPCG(4, 1))
	for _, c := range broadcasts {
		b, shape, ok := NewBroadcast(c.x, c.y)
		require.True(t, ok)
		require.Equal(t, c.want, shape)
		x, y := normals[F](r, countOf(c.x)), normals[F](r, countOf(c.y))
		for op, f := range ops {
			for _, p := range paths() {
				t.Run(fmt.Sprint(c.x, c.y, op, p), func(t *testing.T) {
					onPath(t, p)
					z := nans[F](countOf(shape))
					Arithmetic(Operation(op), z, x, y, b)
					for i, v := range z {
						require.Equal(t, f(x[operandAt(c.x, shape, i)], y[operandAt(c.y, shape, i)]), v)
					}
				})
			}
		}
	}
}

func TestArithmetic(t *testing.T) {
	t.Run("float32", testArithmetic[float32])
	t.Run("float64", testArithmetic[float64])
}

func TestShapesThatDoNotFitTogether(t *testing.T) {
	for _, c := range [][2][]int{{{3}, {5}}, {{2, 3}, {3, 2}}, {{2, 3, 5}, {2, 5}}, {{3, 5}, {3}}} {
		_, _, ok := NewBroadcast(c[0], c[1])
		require.False(t, ok, "%v", c)
	}
}

func TestArithmeticAllocatesNothing(t *testing.T) {
	for _, c := range broadcasts {
		b, shape, _ := NewBroadcast(c.x, c.y)
		x, y, z := make([]float32, countOf(c.x)), make([]float32, countOf(c.y)), make([]float32, countOf(shape))
		noAllocations(t, fmt.Sprint(c), func() { Arithmetic(Plus, z, x, y, b) })
	}
}
