package config_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

type attention struct {
	NumHeads int     `json:"num_heads"`
	OutDim   int     `json:"out_dim,omitempty"`
	Dropout  float64 `json:"dropout"`
	RoPE     *rope   `json:"rope"`
	Stops    []rope  `json:"stops"`
	Plain    uint
	Layout   word `json:"-"`
}

type rope struct {
	Dims int `json:"dims"`
}

type block struct {
	attention `json:"attn"`
	Attention *attention `json:"attention"`
	Width     int        `json:"width"`
}

type model struct{ Block block }

// Every user of a config reads the names that the user knows.
func TestNames(t *testing.T) {
	c := attention{NumHeads: 5, OutDim: 12}
	divisor := config.Errorf(c, "NumHeads", "got %d, want a divisor of %s=%d", 5, config.Field("OutDim"), 12)
	turned := config.Errorf(&c, "RoPE.Dims", "got %d with %s, want %.1f", 3, config.Field("NumHeads"), 0.5)
	for _, c := range []struct {
		reason            string
		err               error
		goText, json, set string // set is by flags that only dimensions have; empty is the one before
	}{
		{"a field", divisor, "NumHeads: got 5, want a divisor of OutDim=12",
			"num_heads: got 5, want a divisor of out_dim=12", "--heads: got 5, want a divisor of out_dim=12"},
		{"a path, and a pointer to the config", turned, "RoPE.Dims: got 3 with NumHeads, want 0.5",
			"rope.dims: got 3 with num_heads, want 0.5", "rope.dims: got 3 with --heads, want 0.5"},
		{"enclosed", config.In(block{}, "Attention", divisor), "Attention.NumHeads: got 5, want a divisor of OutDim=12",
			"attention.num_heads: got 5, want a divisor of out_dim=12", "--n_head: got 5, want a divisor of --out=12"},
		{"enclosed, of two levels", config.In(&block{}, "Attention", turned),
			"Attention.RoPE.Dims: got 3 with Attention.NumHeads, want 0.5",
			"attention.rope.dims: got 3 with attention.num_heads, want 0.5",
			"attention.rope.dims: got 3 with --n_head, want 0.5"},
		{"enclosed twice, without a tag", config.In(model{}, "Block", config.In(block{}, "Attention", divisor)),
			"Block.Attention.NumHeads: got 5, want a divisor of OutDim=12",
			"Block.attention.num_heads: got 5, want a divisor of out_dim=12", ""},
		{"an element", config.In(c, "Stops[2]", config.Errorf(rope{}, "Dims", "got none")), "Stops[2].Dims: got none",
			"stops[2].dims: got none", ""},
		{"a path with an index", config.Errorf(c, "Stops[2].Dims", "got none"), "Stops[2].Dims: got none",
			"stops[2].dims: got none", ""},
		{"an element of a list with a flag", config.Errorf(c, "Groups[2]", "got none"), "Groups[2]: got none", "",
			"--group: got none"},
		{"a field of one", config.Errorf(c, "Groups[2].Dims", "got none with %s", config.Field("Groups[2].Rate")),
			"Groups[2].Dims: got none with Rate", "", "--group[2].Dims: got none with Rate"},
		{"no tag", config.Errorf(c, "Plain", "got none"), "Plain: got none", "", ""},
		{"no key", config.Errorf(c, "Layout", "got none"), "Layout: got none", "", ""},
		{"no such field", config.Errorf(c, "Nothing.At.All", "got none"), "Nothing.At.All: got none", "", ""},
		{"an embedded struct's", config.Errorf(block{}, "OutDim", "got none"), "OutDim: got none", "out_dim: got none", ""},
		{"the whole config", config.Errorf(c, "", "got %s without %s", config.Field("RoPE"), config.Field("OutDim")),
			"got RoPE without OutDim", "got rope without out_dim", ""},
		{"no config", config.Errorf(nil, "Field", "100%%"), "Field: 100%", "", ""},
		{"of a config made from it",
			config.From(model{}, divisor, map[string]string{"NumHeads": "Block.Width", "OutDim": "Block"}),
			"Block.Width: got 5, want a divisor of Block=12", "Block.width: got 5, want a divisor of Block=12", ""},
		{"of one made from it, which has no such field", config.From(model{}, divisor, map[string]string{}),
			"NumHeads: got 5, want a divisor of OutDim=12", "num_heads: got 5, want a divisor of out_dim=12",
			"--heads: got 5, want a divisor of out_dim=12"},
		{"of one with the same fields and other keys", config.From(struct {
			NumHeads int `json:"n_head"`
			OutDim   int `json:"n_embd"`
		}{}, divisor, nil), "NumHeads: got 5, want a divisor of OutDim=12", "n_head: got 5, want a divisor of n_embd=12",
			""},
		{"within the name of a layer, which only Go's users know", fmt.Errorf("layers: h.0: %w", divisor),
			"layers: h.0: NumHeads: got 5, want a divisor of OutDim=12", "num_heads: got 5, want a divisor of out_dim=12",
			"--heads: got 5, want a divisor of out_dim=12"},
		{"enclosed out of the name of a layer", config.In(block{}, "Attention", fmt.Errorf("layers: h.0: %w", divisor)),
			"Attention.NumHeads: got 5, want a divisor of OutDim=12",
			"attention.num_heads: got 5, want a divisor of out_dim=12", "--n_head: got 5, want a divisor of --out=12"},
		{"another error", io.ErrUnexpectedEOF, "unexpected EOF", "", ""},
		{"another error of a config", config.In(c, "RoPE", io.ErrUnexpectedEOF), "RoPE: unexpected EOF",
			"rope: unexpected EOF", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			flags := map[string]string{"num_heads": "--heads", "attention.num_heads": "--n_head", "attention.out_dim": "--out",
				"Groups": "--group"}
			c.json = cmp.Or(c.json, c.goText)
			c.set = cmp.Or(c.set, c.json)
			require.EqualError(t, c.err, c.goText)
			require.EqualError(t, config.JSON(c.err), c.json)
			require.EqualError(t, config.JSON(config.Named(c.err, flags)), c.json)
			require.EqualError(t, config.Named(c.err, flags), c.set)
		})
	}
}

func TestErrorsUnwrap(t *testing.T) {
	require.NoError(t, config.In(attention{}, "RoPE", nil))
	require.NoError(t, config.From(attention{}, nil, nil))
	require.NoError(t, config.JSON(nil))
	err := config.JSON(config.In(block{}, "Attention",
		config.Errorf(attention{}, "RoPE", "got %d: %w", 1, io.ErrNoProgress)))
	require.ErrorIs(t, fmt.Errorf("outer: %w", err), io.ErrNoProgress)
	require.ErrorIs(t, config.In(block{}, "Attention", io.ErrNoProgress), io.ErrNoProgress)
	require.EqualError(t, err, "attention.rope: got 1: "+io.ErrNoProgress.Error())
	var e *config.Error
	require.ErrorAs(t, fmt.Errorf("outer: %w", err), &e)
	require.Equal(t, "attention.rope", e.Path())
	require.ErrorAs(t, config.Decode([]byte(`{"list": [true]}`), new(all)), &e)
	require.Equal(t, "list[0]", e.Path())
	require.ErrorAs(t, config.Decode([]byte(`{`), new(all)), &e)
	require.Empty(t, e.Path())
	require.NoError(t, errors.Unwrap(e.Unwrap()))
}

// Enclosing or renaming an error does not change the original.
func TestErrorsAreValues(t *testing.T) {
	err := config.Errorf(attention{}, "NumHeads", "got more than %s", config.Field("OutDim"))
	config.In(block{}, "Attention", err)
	config.JSON(err)
	config.From(model{}, err, map[string]string{"NumHeads": "Block", "OutDim": "Block"})
	require.EqualError(t, err, "NumHeads: got more than OutDim")
}
