package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPermute(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, c := range []struct{ lengths, order []int }{
		{lengths: []int{}, order: []int{}},
		{lengths: []int{5}, order: []int{0}},
		{lengths: []int{0, 3}, order: []int{1, 0}},
		{lengths: []int{3, 5}, order: []int{0, 1}},
		{lengths: []int{3, 5}, order: []int{1, 0}},
		{lengths: []int{2, 3, 5}, order: []int{1, 0, 2}},
		{lengths: []int{2, 3, 5}, order: []int{2, 0, 1}},
		{lengths: []int{2, 1, 5, 7}, order: []int{3, 1, 2, 0}},
		{lengths: []int{2, 3, 5, 7}, order: []int{0, 2, 1, 3}},
		{lengths: []int{2, 3, 5, 7}, order: []int{3, 1, 0, 2}},
		{lengths: []int{200, 3, 100}, order: []int{2, 1, 0}},
		{lengths: []int{20, 30, 50}, order: []int{1, 0, 2}},
		{lengths: []int{130, 270}, order: []int{1, 0}},
		{lengths: []int{5, 3, 70, 33}, order: []int{1, 3, 0, 2}},
		{lengths: []int{3, 5, 4, 40}, order: []int{3, 1, 0, 2}},
	} {
		t.Run(fmt.Sprint(c.lengths, c.order), func(t *testing.T) {
			x := normals[float32](r, countOf(c.lengths))
			y := nans[float32](len(x))
			Permute(y, x, NewPermutation(c.lengths, c.order))
			for i, v := range y {
				index, rest := make([]int, len(c.lengths)), i
				for to := len(c.order) - 1; to >= 0; to-- {
					n := c.lengths[c.order[to]]
					index[c.order[to]], rest = rest%n, rest/n
				}
				at := 0
				for axis, n := range c.lengths {
					at = at*n + index[axis]
				}
				require.Equal(t, x[at], v)
			}
		})
	}
}
