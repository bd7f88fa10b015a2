package config_test

import (
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
		goText, json, set string // set is by flags that only dimensions have
	}{
		{reason: "a field", err: divisor, goText: "NumHeads: got 5, want a divisor of OutDim=12",
			json: "num_heads: got 5, want a divisor of out_dim=12", set: "--heads: got 5, want a divisor of out_dim=12"},
		{reason: "a path, and a pointer to the config", err: turned, goText: "RoPE.Dims: got 3 with NumHeads, want 0.5",
			json: "rope.dims: got 3 with num_heads, want 0.5", set: "rope.dims: got 3 with --heads, want 0.5"},
		{reason: "enclosed", err: config.In(block{}, "Attention", divisor),
			goText: "Attention.NumHeads: got 5, want a divisor of OutDim=12",
			json:   "attention.num_heads: got 5, want a divisor of out_dim=12", set: "--n_head: got 5, want a divisor of --out"},
		{reason: "enclosed, of two levels", err: config.In(&block{}, "Attention", turned),
			goText: "Attention.RoPE.Dims: got 3 with Attention.NumHeads, want 0.5",
			json:   "attention.rope.dims: got 3 with attention.num_heads, want 0.5",
			set:    "attention.rope.dims: got 3 with --n_head, want 0.5"},
		{reason: "enclosed twice, without a tag", err: config.In(model{}, "Block", config.In(block{}, "Attention", divisor)),
			goText: "Block.Attention.NumHeads: got 5, want a divisor of OutDim=12",
			json:   "Block.attention.num_heads: got 5, want a divisor of out_dim=12",
			set:    "Block.attention.num_heads: got 5, want a divisor of out_dim=12"},
		{reason: "an element", err: config.In(c, "Stops[2]", config.Errorf(rope{}, "Dims", "got none")),
			goText: "Stops[2].Dims: got none", json: "stops[2].dims: got none", set: "stops[2].dims: got none"},
		{reason: "a path with an index", err: config.Errorf(c, "Stops[2].Dims", "got none"),
			goText: "Stops[2].Dims: got none", json: "stops[2].dims: got none", set: "stops[2].dims: got none"},
		{reason: "an element of a list with a flag", err: config.Errorf(c, "Groups[2]", "got none"),
			goText: "Groups[2]: got none", json: "Groups[2]: got none", set: "--group: got none"},
		{reason: "a field of one",
			err:    config.Errorf(c, "Groups[2].Dims", "got none with %s", config.Field("Groups[2].Rate")),
			goText: "Groups[2].Dims: got none with Rate", json: "Groups[2].Dims: got none with Rate",
			set: "--group[2].Dims: got none with Rate"},
		{reason: "no tag", err: config.Errorf(c, "Plain", "got none"), goText: "Plain: got none", json: "Plain: got none",
			set: "Plain: got none"},
		{reason: "no key", err: config.Errorf(c, "Layout", "got none"), goText: "Layout: got none", json: "Layout: got none",
			set: "Layout: got none"},
		{reason: "no such field", err: config.Errorf(c, "Nothing.At.All", "got none"), goText: "Nothing.At.All: got none",
			json: "Nothing.At.All: got none", set: "Nothing.At.All: got none"},
		{reason: "an embedded struct's", err: config.Errorf(block{}, "OutDim", "got none"), goText: "OutDim: got none",
			json: "out_dim: got none", set: "out_dim: got none"},
		{reason: "the whole config",
			err:    config.Errorf(c, "", "got %s without %s", config.Field("RoPE"), config.Field("OutDim")),
			goText: "got RoPE without OutDim",
			json:   "got rope without out_dim", set: "got rope without out_dim"},
		{reason: "no config", err: config.Errorf(nil, "Field", "100%%"), goText: "Field: 100%", json: "Field: 100%",
			set: "Field: 100%"},
		{reason: "of a config made from it",
			err:    config.From(model{}, divisor, map[string]string{"NumHeads": "Block.Width", "OutDim": "Block"}),
			goText: "Block.Width: got 5, want a divisor of Block=12", json: "Block.width: got 5, want a divisor of Block=12",
			set: "Block.width: got 5, want a divisor of Block=12"},
		{reason: "of one made from it, which has no such field", err: config.From(model{}, divisor, map[string]string{}),
			goText: "NumHeads: got 5, want a divisor of OutDim=12",
			json:   "num_heads: got 5, want a divisor of out_dim=12", set: "--heads: got 5, want a divisor of out_dim=12"},
		{reason: "of one with the same fields and other keys", err: config.From(struct {
			NumHeads int `json:"n_head"`
			OutDim   int `json:"n_embd"`
		}{}, divisor, nil), goText: "NumHeads: got 5, want a divisor of OutDim=12",
			json: "n_head: got 5, want a divisor of n_embd=12", set: "n_head: got 5, want a divisor of n_embd=12"},
		{reason: "within the name of a layer, which only Go's users know", err: fmt.Errorf("layers: h.0: %w", divisor),
			goText: "layers: h.0: NumHeads: got 5, want a divisor of OutDim=12",
			json:   "num_heads: got 5, want a divisor of out_dim=12", set: "--heads: got 5, want a divisor of out_dim=12"},
		{reason: "enclosed out of the name of a layer",
			err:    config.In(block{}, "Attention", fmt.Errorf("layers: h.0: %w", divisor)),
			goText: "Attention.NumHeads: got 5, want a divisor of OutDim=12",
			json:   "attention.num_heads: got 5, want a divisor of out_dim=12",
			set:    "--n_head: got 5, want a divisor of --out=12"},
		{reason: "another error", err: io.ErrUnexpectedEOF, goText: "unexpected EOF", json: "unexpected EOF",
			set: "unexpected EOF"},
		{reason: "another error of a config", err: config.In(c, "RoPE", io.ErrUnexpectedEOF), goText: "RoPE: unexpected EOF",
			json: "rope: unexpected EOF", set: "rope: unexpected EOF"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			flags := map[string]string{"num_heads": "--heads", "attention.num_heads": "--n_head", "attention.out_dim": "--out",
				"Groups": "--group"}
			require.EqualError(t, c.err, c.goText)
			require.EqualError(t, config.JSON(c.err), c.json)
			require.EqualError(t, config.JSON(config.Named(c.err, flags)), c.json)
			if c.reason == "enclosed" {
				c.set += "=12"
			}
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
