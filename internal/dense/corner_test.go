package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestCopyCorner(t *testing.T) {
	count := func(n int) []int {
		all := make([]int, n)
		for i := range all {
			all[i] = i + 1
		}
		return all
	}
	for _, c := range []struct {
		to, from []int // shapes
		want     []int
	}{
		{to: []int{2, 3}, from: []int{2, 3}, want: []int{1, 2, 3, 4, 5, 6}},
		{to: []int{2, 3}, from: []int{2, 2}, want: []int{1, 2, 0, 3, 4, 0}},
		{to: []int{2, 3}, from: []int{1, 4}, want: []int{1, 2, 3, 0, 0, 0}},
		{to: []int{1, 2}, from: []int{3, 3}, want: []int{1, 2}},
		{to: []int{2, 2, 2}, from: []int{2, 1, 3}, want: []int{1, 2, 0, 0, 4, 5, 0, 0}},
		{to: []int{3}, from: []int{2}, want: []int{1, 2, 0}},
		{to: []int{2}, from: []int{3}, want: []int{1, 2}},
	} {
		to := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(c.to...))
		from := tensor.New(tensor.WithShape(c.from...), tensor.WithBacking(count(tensor.Shape(c.from).TotalSize())))
		dense.CopyCorner(to, from)
		require.Equal(t, c.want, to.Ints(), "%v of %v", c.to, c.from)
	}
	bools := tensor.New(tensor.Of(tensor.Bool), tensor.WithShape(3))
	dense.CopyCorner(bools, tensor.New(tensor.WithBacking([]bool{true, false})))
	require.Equal(t, []bool{true, false, false}, bools.Bools())
	number := tensor.New(tensor.FromScalar(int64(1)))
	dense.CopyCorner(number, tensor.New(tensor.FromScalar(int64(7))))
	require.Equal(t, []int64{7}, number.Int64s())
}
