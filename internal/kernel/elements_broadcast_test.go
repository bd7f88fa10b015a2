package kernel

import (
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

func TestShapesThatDoNotFitTogether(t *testing.T) {
	for _, c := range [][2][]int{{{3}, {5}}, {{2, 3}, {3, 2}}, {{2, 3, 5}, {2, 5}}, {{3, 5}, {3}}} {
		_, _, ok := NewBroadcast(c[0], c[1])
		require.False(t, ok, "%v", c)
	}
}
