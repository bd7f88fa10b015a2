package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/kernel"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// bound draws a rule, bound to values that are drawn too.
func bound(t *rapid.T, r *rand.Rand, at place, depth int) keySet {
	draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	far := rapid.SampledFrom([]int{0, 1, 3, at.S, unlimited})
	whole := func(most int, shape ...int) *tensor.Dense {
		v := make([]int64, tensor.Shape(shape).TotalSize())
		for i := range v {
			v[i] = r.Int64N(int64(most) + 1)
		}
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
	}
	kinds := 9
	if depth == 0 {
		kinds = 6
	}
	var rules rule
	var in []*tensor.Dense
	switch kind := draw("rule", 0, kinds-1); kind {
	case 0:
		rules = everything{}
	case 1:
		rules = band{Left: far.Draw(t, "left"), Right: far.Draw(t, "right"), Align: UpperLeft}
		if at.S >= at.T && rapid.Bool().Draw(t, "lower right") {
			rules = band{Left: far.Draw(t, "left"), Right: far.Draw(t, "right"), Align: LowerRight}
		}
	case 2:
		rules = prefix{rapid.SampledFrom([]int{0, 1, 3, at.S, math.MaxInt}).Draw(t, "prefix")}
	case 3:
		rules, in = lengths{0}, []*tensor.Dense{whole(at.S, at.B)}
	case 4:
		rules, in = segments{0, 1}, []*tensor.Dense{whole(2, at.B, at.T), whole(2, at.B, at.S)}
	case 5:
		layout, size := kernel.BiasLayout{}, 1
		for i, step := range []*int{&layout.Key, &layout.Query, &layout.Head, &layout.Batch} {
			if n := []int{at.S, at.T, at.H, at.B}[i]; rapid.Bool().Draw(t, "axis") {
				*step, size = size, size*n
			}
		}
		rules, in = keep{0, layout}, []*tensor.Dense{whole(1, size)}
	case 6, 7:
		return pairKeys{bound(t, r, at, depth-1), bound(t, r, at, depth-1), kind == 6}
	case 8:
		return inverseKeys{bound(t, r, at, depth-1), at.S}
	}
	keys, err := rules.bind(in, at)
	require.NoError(t, err)
	return keys
}

// span and fill tell the same, in all parts of a row: nothing is seen outside the span,
// and everything inside if it says so.
func TestSpanAndFillAgree(t *testing.T) {
	for range 20 { // times the checks that rapid makes
		rapid.Check(t, checkSpans)
	}
}

func checkSpans(t *rapid.T) {
	few, length := rapid.IntRange(1, 2), rapid.SampledFrom([]int{1, 3, 5, 7})
	at := place{B: few.Draw(t, "B"), H: few.Draw(t, "H"), T: length.Draw(t, "T"), S: length.Draw(t, "S")}
	if at.Cached = rapid.Bool().Draw(t, "cached"); at.Cached {
		at.Start = rapid.IntRange(0, 6).Draw(t, "start")
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	keys := bound(t, r, at, 3)
	if extra := rapid.IntRange(0, 2).Draw(t, "extra"); extra > 0 {
		keys = extraKeys{keys, at.S, at.S + extra}
		at.S += extra
	}
	for row := range at.B * at.H * at.T {
		checkRow(t, keys, at, row/at.T/at.H, row/at.T%at.H, row%at.T)
	}
}

func checkRow(t *rapid.T, keys keySet, at place, b, h, q int) {
	lo, hi, all := keys.span(b, q)
	row := filled(keys, b, h, q, 0, at.S)
	for s, shown := range row {
		inside := lo <= s && s < hi
		if shown && !inside || all && inside && !shown {
			t.Fatalf("%#v: batch %d, head %d, query %d: span %d, %d, %v of %v", keys, b, h, q, lo, hi, all, row)
		}
	}
	for s0 := range at.S {
		for s1 := s0; s1 <= at.S; s1++ {
			if part := filled(keys, b, h, q, s0, s1); !slices.Equal(part, row[s0:s1]) {
				t.Fatalf("%#v: batch %d, head %d, query %d: keys %d to %d are %v of %v", keys, b, h, q, s0, s1, part, row)
			}
		}
	}
}

// filled is fill into memory that holds the opposite.
func filled(keys keySet, b, h, t, s0, s1 int) []bool {
	shown := make([]bool, s1-s0)
	keys.fill(b, h, t, s0, shown)
	again := make([]bool, s1-s0)
	for i, s := range shown {
		again[i] = !s
	}
	keys.fill(b, h, t, s0, again)
	if !slices.Equal(shown, again) {
		panic(fmt.Sprintf("%#v: fill leaves elements as they were", keys))
	}
	return shown
}

// Masks that are a range of keys for each query say so: the kernel then asks for no key
// alone and skips the tiles that they hide.
func TestRangesAreTold(t *testing.T) {
	at := place{B: 2, H: 3, T: 5, S: 7}
	n := tensor.New(tensor.WithBacking([]int64{0, 4}), tensor.WithShape(2))
	ids := func(ids ...int64) *tensor.Dense {
		return tensor.New(tensor.WithBacking(ids), tensor.WithShape(2, len(ids)/2))
	}
	contiguous := []*tensor.Dense{n, ids(1, 1, 1, 2, 2, 4, 4, 4, 4, 9), ids(1, 1, 2, 2, 2, 2, 2, 9, 9, 4, 4, 4, 4, 4)}
	keepFirst := tensor.New(tensor.WithBacking([]float32{0, 1, 1, 1, 0, 0, 0}), tensor.WithShape(7))
	causal, window := band{Left: unlimited, Align: LowerRight}, band{Left: 2, Right: 1, Align: UpperLeft}
	for _, r := range []rule{
		causal, window, prefix{3}, lengths{0}, segments{1, 2}, keep{3, kernel.BiasLayout{Key: 1}}, inverse{causal}, inverse{prefix{3}}, inverse{everything{}},
		pair{causal, window, false}, pair{causal, lengths{0}, false}, pair{segments{1, 2}, causal, false}, pair{causal, prefix{2}, true},
		pair{inverse{causal}, lengths{0}, false}, pair{everything{}, prefix{0}, true}, withExtra{prefix{7}, 2}, withExtra{prefix{0}, 2},
	} {
		at := at
		if _, ok := r.(withExtra); ok {
			at.S += 2
		}
		keys, err := r.bind(append(slices.Clone(contiguous), keepFirst), at)
		require.NoError(t, err)
		require.True(t, whole(keys, at.B, at.T), "%#v", r)
	}
	for _, r := range []rule{inverse{window}, pair{prefix{1}, inverse{prefix{3}}, true}, withExtra{prefix{3}, 2}} {
		keys, err := r.bind(contiguous, at)
		require.NoError(t, err)
		require.False(t, whole(keys, at.B, at.T), "%#v", r)
	}
}
