package mask_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// everySecond shows every second key, counted from the query's own.
func everySecond(t, s int) bool { return s <= t && (t-s)%2 == 0 }

func TestFuncOfPositions(t *testing.T) {
	m := mask.Func{Name: "every second", VisibleAt: everySecond}
	for _, c := range []struct {
		name string
		mask mask.Mask
		s    mask.Scores
		want string
	}{
		{name: "alone", mask: m, s: mask.Scores{H: 1, T: 3, S: 4}, want: "#--- -#-- #-#-"},
		{name: "and", mask: mask.And(m, mask.Prefix{N: 2}), s: mask.Scores{H: 1, T: 3, S: 4}, want: "#--- -#-- #---"},
		{name: "or", mask: mask.Or(m, mask.Prefix{N: 2}), s: mask.Scores{H: 1, T: 3, S: 4}, want: "##-- ##-- ###-"},
		{name: "not", mask: mask.Not(m), s: mask.Scores{H: 1, T: 3, S: 4}, want: "-### #-## -#-#"},
		{name: "with a cache", mask: m, s: mask.Scores{H: 2, T: 2, S: 4, Starts: []int{2}}, want: "#-#- -#-#"},
		{name: "sequences that start elsewhere", mask: m,
			s:    mask.Scores{Batch: tensor.Shape{2}, H: 2, T: 1, S: 4, Starts: []int{0, 3}},
			want: "#--- -#-#"},
		{name: "sequences of which one sees all", mask: mask.Func{VisibleAt: func(t, s int) bool { return t >= 3 }},
			s:    mask.Scores{Batch: tensor.Shape{2}, H: 2, T: 1, S: 4, Starts: []int{0, 3}},
			want: "---- ####"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, shown(t, c.mask, c.s)) })
	}
}

// The function is called for each batch and head.
func TestFuncOfBatchesAndHeads(t *testing.T) {
	m := mask.Func{Visible: func(b, h, t, s int) bool { return s == b+h+t }}
	s := mask.Scores{Batch: tensor.Shape{2}, Heads: true, H: 2, T: 2, S: 4}
	require.Equal(t, "#--- -#-- -#-- --#-", shown(t, m, s))
	joined := mask.Or(mask.Not(mask.Not(m)), mask.And(m, mask.Causal{Align: mask.UpperLeft}))
	require.Equal(t, "#--- -#-- -#-- --#-", shown(t, joined, s))
}

// A rolling cache has no last key; the function is not called for keys without need.
func TestFuncOfEndlessKeys(t *testing.T) {
	s := mask.Scores{H: 2, T: 2, S: mask.Unlimited, Starts: []int{1 << 40}, Endless: true}
	m, _, err := mask.Resolve(mask.And(mask.Causal{}, mask.Func{VisibleAt: everySecond}), s)
	require.NoError(t, err)
	keys, err := mask.Bind(m, nil, s)
	require.NoError(t, err)
	got := make([]bool, 4)
	keys.Fill(0, 0, 1, 1<<40-1, got)
	require.Equal(t, []bool{true, false, true, false}, got)
	_, hi, _ := keys.Span(0, 1)
	require.Equal(t, 1<<40+2, hi)
}

func TestFuncIsRefused(t *testing.T) {
	of, at := func(b, h, t, s int) bool { return true }, func(t, s int) bool { return true }
	for _, c := range []struct {
		name string
		mask mask.Func
		want string
	}{
		{name: "no function", mask: mask.Func{Name: "dilated"},
			want: `got Func "dilated" without a function, want Visible or VisibleAt`},
		{name: "zero", want: `got Func "" without a function, want Visible or VisibleAt`},
		{name: "both", mask: mask.Func{Name: "dilated", Visible: of, VisibleAt: at},
			want: `got Func "dilated" with Visible and VisibleAt, want one of the two`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, mask.Validate(c.mask), c.want)
			require.EqualError(t, mask.Validate(mask.Or(mask.All{}, mask.Not(c.mask))), c.want)
		})
	}
	for _, m := range []mask.Func{{Name: "dilated", Visible: of}, {Name: "dilated", VisibleAt: at}} {
		require.NoError(t, mask.Validate(m))
		require.False(t, mask.HoldsNode(m))
		for _, m := range []mask.Mask{m, mask.Not(m), mask.And(mask.Causal{}, m)} {
			_, err := json.Marshal(m)
			require.ErrorContains(t, err, `got Func "dilated", which has no JSON, want a mask that is no function`)
			var wrapped *json.MarshalerError
			require.True(t, errors.As(err, &wrapped))
		}
	}
}

// Every op has its own number, since functions are not compared by their names.
func TestFuncsAreNumbered(t *testing.T) {
	m := mask.Func{Name: "one", VisibleAt: everySecond}
	seen := map[string]bool{}
	for range 3 {
		r, _, err := mask.Resolve(mask.Not(m), mask.Scores{})
		require.NoError(t, err)
		seen[fmt.Sprintf("%#v", struct{ Mask mask.Mask }{r})] = true
		again, _, err := mask.Resolve(r, mask.Scores{})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%#v", r), fmt.Sprintf("%#v", again), "an op's mask keeps its number")
	}
	require.Len(t, seen, 3)
}

func TestAPanicOfAFuncIsAnError(t *testing.T) {
	var none []bool
	recovered := func(f func()) (err error) {
		defer func() { err = mask.Recovered(recover()) }()
		f()
		return nil
	}
	fill := func(m mask.Mask) func() {
		s := mask.Scores{Batch: tensor.Shape{2}, Heads: true, H: 3, T: 5, S: 7}
		keys, err := mask.Bind(m, nil, s)
		require.NoError(t, err)
		return func() { keys.Fill(1, 2, 3, 4, make([]bool, 2)) }
	}
	require.EqualError(t, recovered(fill(mask.Not(mask.Func{Name: "mine", Visible: func(b, h, t, s int) bool {
		return s < 5 || none[s]
	}}))), `mask: Func "mine": got a panic for batch 1, head 2, query 3 and key 5: `+
		`runtime error: index out of range [5] with length 0, want true or false`)
	const another = `mask: Func "mine": got a panic for query 0 and key 6: no more, want true or false`
	require.EqualError(t, recovered(fill(mask.Func{Name: "mine", VisibleAt: func(t, s int) bool {
		if t == 0 && s == 6 {
			panic("no more")
		}
		return true
	}})), another, "in another row of the tile")
	require.NoError(t, recovered(func() {}))
	require.PanicsWithValue(t, "of another", func() { _ = recovered(func() { panic("of another") }) })
}
