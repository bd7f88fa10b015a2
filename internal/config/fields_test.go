package config_test

import (
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

func TestAt(t *testing.T) {
	c := struct {
		Base
		Attention *attention `json:"attention"`
		Last      block      `json:"last"`
	}{Base: Base{Width: 3}, Last: block{Width: 4, Attention: &attention{RoPE: &rope{5}}}}
	for _, row := range []struct {
		reason, path string
		want         any // nil if there is no such field
	}{
		{reason: "a field of an embedded struct", path: "width", want: 3},
		{reason: "a field of a struct", path: "last.width", want: 4},
		{reason: "a field behind pointers", path: "last.attention.rope.dims", want: 5},
		{reason: "a field behind a nil pointer", path: "attention.rope.dims", want: 0},
		{reason: "a field without a tag", path: "attention.Plain", want: uint(0)},
		{reason: "a field without a key", path: "attention.Layout"},
		{reason: "the Go name of a field with a tag", path: "last.Width"},
		{reason: "a field of a number", path: "width.dims"},
	} {
		got, ok := config.At(&c, row.path)
		require.Equal(t, row.want != nil, ok, row.reason)
		require.Equal(t, row.want, got, row.reason)
	}
	require.Nil(t, c.Attention, "the config does not change")
}
