package mask_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
)

// An alignment is a word in a config.
func TestAlignmentAsText(t *testing.T) {
	for _, c := range []struct {
		align mask.Alignment
		word  string
	}{
		{align: mask.Square, word: "square"},
		{align: mask.UpperLeft, word: "upper_left"},
		{align: mask.LowerRight, word: "lower_right"},
	} {
		require.Equal(t, c.word, c.align.String())
		text, err := json.Marshal(struct{ Align mask.Alignment }{c.align})
		require.NoError(t, err)
		require.JSONEq(t, `{"Align": "`+c.word+`"}`, string(text))
		back := mask.Alignment(99)
		require.NoError(t, back.UnmarshalText([]byte(c.word)))
		require.Equal(t, c.align, back)
	}
	for _, a := range []mask.Alignment{-1, 3} {
		_, err := a.MarshalText()
		require.EqualError(t, err, fmt.Sprintf("got Alignment(%d), want one of square, upper_left, lower_right", int(a)))
		require.Equal(t, fmt.Sprintf("Alignment(%d)", int(a)), a.String())
	}
	a := mask.LowerRight
	for _, word := range []string{"", "Square", "middle"} {
		require.EqualError(t, a.UnmarshalText([]byte(word)),
			fmt.Sprintf("got %q, want one of square, upper_left, lower_right", word))
	}
	require.Equal(t, mask.LowerRight, a, "stays after an error")
}

// The positions of the queries among the keys.
func TestOffset(t *testing.T) {
	for _, c := range []struct {
		a            mask.Alignment
		t, s, offset int
	}{
		{a: mask.Square, t: 3, s: 3, offset: 0},
		{a: mask.UpperLeft, t: 3, s: 5, offset: 0},
		{a: mask.UpperLeft, t: 5, s: 3, offset: 0},
		{a: mask.LowerRight, t: 3, s: 3, offset: 0},
		{a: mask.LowerRight, t: 3, s: 5, offset: 2},
		{a: mask.LowerRight, t: 1, s: 5, offset: 4},
	} {
		got, err := c.a.Offset(c.t, c.s)
		require.NoError(t, err)
		require.Equal(t, c.offset, got, "%+v", c)
	}
	for _, c := range []struct {
		a    mask.Alignment
		t, s int
	}{
		{a: mask.Square, t: 3, s: 5},
		{a: mask.Square, t: 5, s: 3},
		{a: mask.LowerRight, t: 5, s: 3},
		{a: 3, t: 3, s: 3},
		{a: -1, t: 3, s: 3},
	} {
		_, err := c.a.Offset(c.t, c.s)
		require.Error(t, err, "%+v", c)
	}
}
