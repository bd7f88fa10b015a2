package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestInts(t *testing.T) {
	for _, row := range []struct {
		name string
		of   *tensor.Dense
		want []int64
	}{
		{name: "int64", of: tensor.New(tensor.WithBacking([]int64{-1, 1 << 40})), want: []int64{-1, 1 << 40}},
		{name: "int", of: tensor.New(tensor.WithBacking([]int{-2, 3})), want: []int64{-2, 3}},
		{name: "a single int64", of: tensor.New(tensor.FromScalar(int64(4))), want: []int64{4}},
		{name: "a single int", of: tensor.New(tensor.FromScalar(5)), want: []int64{5}},
		{name: "another type", of: tensor.New(tensor.WithBacking([]float64{1, 2}))},
	} {
		require.Equal(t, row.want, dense.Ints(row.of), row.name)
	}
}
