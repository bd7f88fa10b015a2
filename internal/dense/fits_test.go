package dense_test

import (
	"math"
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
)

func TestFits(t *testing.T) {
	for _, row := range []struct {
		name  string
		shape []int
		want  bool
	}{
		{name: "a scalar", want: true},
		{name: "the most", shape: []int{1, math.MaxInt32}, want: true},
		{name: "one more", shape: []int{1 << 31}},
		{name: "a product of one more", shape: []int{1 << 16, 1, 1 << 15}},
		{name: "a product that overflows to 0", shape: []int{1 << 32, 1 << 32}},
		{name: "an axis that is too large, whatever the others", shape: []int{0, math.MaxInt}},
		{name: "none", shape: []int{3, 0, 5}, want: true},
	} {
		require.Equal(t, row.want, dense.Fits(row.shape...), row.name)
	}
}
