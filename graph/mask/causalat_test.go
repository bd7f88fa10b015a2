package mask_test

import (
	"math"
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestCausalAt(t *testing.T) {
	for _, c := range []struct {
		name   string
		start  []int64
		T, S   int
		starts []int
		want   string
	}{
		{name: "one offset a sequence", start: []int64{0, 2}, T: 2, S: 4, want: "#--- ##-- ###- ####"},
		{name: "rows that see no key", start: []int64{-1, -2}, T: 2, S: 2, want: "-- #- -- --"},
		{name: "least and greatest", start: []int64{math.MinInt64, math.MaxInt64}, T: 1, S: 2, want: "-- ##"},
		{name: "with a cache", start: []int64{0, -1}, T: 2, S: 3, starts: []int{1, 0}, want: "##- ### --- #--"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := tensor.New(tensor.WithBacking(c.start), tensor.WithShape(2))
			s := mask.Scores{Batch: tensor.Shape{2}, H: 1, T: c.T, S: c.S, Starts: c.starts}
			require.Equal(t, c.want, shown(t, mask.CausalAt{}, s, start))
		})
	}
	s := mask.Scores{Batch: tensor.Shape{2}, H: 1, T: 2, S: 2}
	_, err := mask.Bind(mask.CausalAt{}, nil, s)
	require.EqualError(t, err, "causal_start: got no value, want one")
	_, err = mask.Bind(mask.CausalAt{}, []*tensor.Dense{tensor.New(tensor.WithBacking([]int64{1, 2, 3}))}, s)
	require.EqualError(t, err, "causal_start: got int64 (3), want integers (2, 1)")
}
