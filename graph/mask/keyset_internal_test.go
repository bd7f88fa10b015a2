package mask

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	_ "attention/internal/testenv"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// bound draws a mask, bound to values that are drawn too.
func bound(t *rapid.T, r *rand.Rand, at Scores, depth int) KeySet {
	draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	far := rapid.SampledFrom([]int{0, 1, 3, at.S, Unlimited, math.MaxInt})
	whole := func(most int, shape ...int) *tensor.Dense {
		v := make([]int64, tensor.Shape(shape).TotalSize())
		for i := range v {
			v[i] = r.Int64N(int64(most) + 1)
		}
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
	}
	kinds := 14
	if depth == 0 {
		kinds = 11
	}
	var m Mask
	var in []*tensor.Dense
	switch kind := draw("mask", 0, kinds-1); kind {
	case 0:
		m = All{}
	case 1, 2:
		align := UpperLeft
		if at.S >= at.T && rapid.Bool().Draw(t, "lower right") {
			align = LowerRight
		}
		m = SlidingWindow{Left: far.Draw(t, "left"), Right: far.Draw(t, "right"), Align: align}
		if kind == 2 {
			m = Causal{Align: align, Offset: rapid.SampledFrom([]int{0, -1, 2, math.MinInt, math.MaxInt}).Draw(t, "offset")}
		}
	case 3:
		m = Prefix{N: rapid.SampledFrom([]int{0, 1, 3, at.S, math.MaxInt}).Draw(t, "prefix")}
	case 4:
		m, in = KeyLengths{}, []*tensor.Dense{whole(at.S, at.B())}
	case 5:
		m, in = Segments{key: 1}, []*tensor.Dense{whole(2, at.B(), at.T), whole(2, at.B(), at.S)}
	case 6:
		shape := at.shape()
		for i := range shape {
			if rapid.Bool().Draw(t, "repeated") {
				shape[i] = 1
			}
		}
		m, in = Keep{}, []*tensor.Dense{whole(1, shape...)}
	case 7:
		m, in = CausalAt{}, []*tensor.Dense{whole(at.S, at.B())}
		for i, n := range in[0].Int64s() {
			in[0].Int64s()[i] = n - 2
		}
	case 8:
		rule := draw("rule", 0, 3)
		m = Func{VisibleAt: func(t, s int) bool { return rule == 3 || (t/3+s/4+rule)%3 > rule }}
	case 9:
		rule := draw("rule", 1, 3)
		m = Func{Visible: func(b, h, t, s int) bool { return (3*b+5*h+t+s/2)%4 < rule }}
	case 10:
		m, in = Blocks{Size: draw("size", 1, 3)}, []*tensor.Dense{whole(1, append(at.RowShape(), 2)...)}
		for i, n := range in[0].Int64s() {
			in[0].Int64s()[i] = min(3*n-1, int64(at.S-1)/3) // −1, or a block that exists for any size
		}
	case 11, 12:
		a, b := bound(t, r, at, depth-1), bound(t, r, at, depth-1)
		if kind == 11 {
			return union(a, b)
		}
		return intersection(a, b)
	case 13:
		return complement(bound(t, r, at, depth-1), at.S)
	}
	keys, err := Bind(m, in, at)
	require.NoError(t, err)
	return keys
}

// Span, Fill and Glance agree in all parts of a row: nothing is seen outside the span,
// and everything inside if Span reports all.
func TestSpanFillAndGlanceAgree(t *testing.T) {
	for range 20 { // multiplies the number of checks that rapid makes
		rapid.Check(t, checkSpans)
	}
}

func checkSpans(t *rapid.T) {
	few, length := rapid.IntRange(1, 2), rapid.SampledFrom([]int{1, 3, 5, 7})
	at := Scores{Batch: tensor.Shape{few.Draw(t, "B")}, Heads: true, H: few.Draw(t, "H"), T: length.Draw(t, "T"),
		S: length.Draw(t, "S")}
	if start := rapid.IntRange(0, 6); rapid.Bool().Draw(t, "cached") {
		n := rapid.SampledFrom([]int{1, at.B()}).Draw(t, "starts")
		at.Starts = rapid.SliceOfN(start, n, n).Draw(t, "start")
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	keys := bound(t, r, at, 3)
	if extra := rapid.IntRange(0, 2).Draw(t, "extra"); extra > 0 {
		keys = keys.Append(at.S, extra)
		at.S += extra
	}
	for row := range at.B() * at.H * at.T {
		checkRow(t, keys, at, row/at.T/at.H, row/at.T%at.H, row%at.T)
	}
}

func checkRow(t *rapid.T, keys KeySet, at Scores, b, h, q int) {
	lo, hi, all := keys.Span(b, q)
	if first, end, _ := keys.Span(0, q); keys.Alike() && (first != lo || end != hi) {
		t.Fatalf("batch %d, query %d: span %d, %d, in the first batch %d, %d", b, q, lo, hi, first, end)
	}
	row := filled(keys, b, h, q, 0, at.S)
	for s, shown := range row {
		inside := lo <= s && s < hi
		if shown && !inside || all && inside && !shown {
			t.Fatalf("batch %d, head %d, query %d: span %d, %d, %v of %v", b, h, q, lo, hi, all, row)
		}
	}
	for s0 := range at.S {
		for s1 := s0; s1 <= at.S; s1++ {
			part := filled(keys, b, h, q, s0, s1)
			if !slices.Equal(part, row[s0:s1]) {
				t.Fatalf("batch %d, head %d, query %d: keys %d to %d are %v of %v", b, h, q, s0, s1, part, row)
			}
			sight := keys.Glance(b, q, s0, s1-s0)
			if slices.Contains(part, sight == SeesNone) && sight != SeesSome {
				t.Fatalf("batch %d, head %d, query %d: a glance at keys %d to %d tells %d of %v", b, h, q, s0, s1, sight, part)
			}
		}
	}
}

// filled returns the result of fill in memory that held the opposite.
func filled(keys KeySet, b, h, t, s0, s1 int) []bool {
	shown := make([]bool, s1-s0)
	keys.Fill(b, h, t, s0, shown)
	again := make([]bool, s1-s0)
	for i, s := range shown {
		again[i] = !s
	}
	keys.Fill(b, h, t, s0, again)
	if !slices.Equal(shown, again) {
		panic("Fill leaves elements as they were")
	}
	return shown
}

// Masks that show each query a range of keys report it: the kernel then checks no single key and skips hidden tiles.
func TestRangesAreTold(t *testing.T) {
	at := Scores{Batch: tensor.Shape{2}, Heads: true, H: 3, T: 5, S: 7}
	ids := func(ids ...int64) *tensor.Dense {
		return tensor.New(tensor.WithBacking(ids), tensor.WithShape(2, len(ids)/2))
	}
	in := []*tensor.Dense{
		tensor.New(tensor.WithBacking([]int64{0, 4}), tensor.WithShape(2)),
		ids(1, 1, 1, 2, 2, 4, 4, 4, 4, 9), ids(1, 1, 2, 2, 2, 2, 2, 9, 9, 4, 4, 4, 4, 4),
		tensor.New(tensor.WithBacking([]float32{0, 1, 1, 1, 0, 0, 0}), tensor.WithShape(7)),
	}
	causal, window := Causal{Align: LowerRight}, SlidingWindow{Left: 2, Right: 1, Align: UpperLeft}
	lengths, segments, keep := KeyLengths{input: 0}, Segments{query: 1, key: 2}, Keep{input: 3}
	for _, c := range []struct {
		name   string
		mask   Mask
		extra  int // keys appended
		ranges bool
	}{
		{name: "causal", mask: causal, ranges: true},
		{name: "window", mask: window, ranges: true},
		{name: "prefix", mask: Prefix{N: 3}, ranges: true},
		{name: "lengths", mask: lengths, ranges: true},
		{name: "segments side by side", mask: segments, ranges: true},
		{name: "keep of a range", mask: keep, ranges: true},
		{name: "not causal", mask: Not(causal), ranges: true},
		{name: "not prefix", mask: Not(Prefix{N: 3}), ranges: true},
		{name: "none", mask: Not(All{}), ranges: true},
		{name: "causal and window", mask: And(causal, window), ranges: true},
		{name: "causal and lengths", mask: And(causal, lengths), ranges: true},
		{name: "segments and causal", mask: And(segments, causal), ranges: true},
		{name: "causal or prefix", mask: Or(causal, Prefix{N: 2}), ranges: true},
		{name: "not causal and lengths", mask: And(Not(causal), lengths), ranges: true},
		{name: "all or nothing", mask: Or(All{}, Prefix{}), ranges: true},
		{name: "all keys and extra ones", mask: Prefix{N: 7}, extra: 2, ranges: true},
		{name: "extra keys alone", mask: Prefix{}, extra: 2, ranges: true},
		{name: "both sides of a window", mask: Not(window)},
		{name: "two ranges", mask: Or(Prefix{N: 1}, Not(Prefix{N: 3}))},
		{name: "a prefix and extra keys", mask: Prefix{N: 3}, extra: 2},
	} {
		keys, err := Bind(c.mask, in, at)
		require.NoError(t, err)
		if c.extra > 0 {
			keys = keys.Append(at.S, c.extra)
		}
		require.Equal(t, c.ranges, keys.AllRanges(at.B(), at.T), c.name)
	}
}
