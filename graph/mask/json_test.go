package mask_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Masks and their JSON, both ways.
var written = []struct {
	mask mask.Mask
	text string
}{
	{mask: mask.All{}, text: `{"type":"all"}`},
	{mask: mask.Causal{}, text: `{"type":"causal"}`},
	{mask: mask.Causal{Align: mask.UpperLeft}, text: `{"type":"causal","align":"upper_left"}`},
	{mask: mask.Causal{Offset: 4}, text: `{"type":"causal","offset":4}`},
	{mask: mask.Causal{Align: mask.LowerRight, Offset: -1}, text: `{"type":"causal","align":"lower_right","offset":-1}`},
	{mask: mask.SlidingWindow{Left: 3, Align: mask.LowerRight},
		text: `{"type":"sliding_window","left":3,"right":0,"align":"lower_right"}`},
	{mask: mask.SlidingWindow{Left: math.MaxInt64, Right: 1},
		text: `{"type":"sliding_window","left":9223372036854775807,"right":1}`},
	{mask: mask.Prefix{N: 4}, text: `{"type":"prefix","n":4}`},
	{mask: mask.Not(mask.Causal{}), text: `{"type":"not","of":{"type":"causal"}}`},
	{mask: mask.And(mask.All{}, mask.Causal{}, mask.Prefix{N: 1}),
		text: `{"type":"and","of":[{"type":"all"},{"type":"causal"},{"type":"prefix","n":1}]}`},
	{mask: mask.And(mask.All{}, mask.And(mask.All{}, mask.All{})),
		text: `{"type":"and","of":[{"type":"all"},{"type":"and","of":[{"type":"all"},{"type":"all"}]}]}`},
	{mask: mask.Or(mask.And(mask.All{}, mask.All{}), mask.Not(mask.Prefix{})),
		text: `{"type":"or","of":[{"type":"and","of":[{"type":"all"},{"type":"all"}]},` +
			`{"type":"not","of":{"type":"prefix","n":0}}]}`},
}

func TestMasksAsJSON(t *testing.T) {
	for _, c := range written {
		text, err := json.Marshal(c.mask)
		require.NoError(t, err)
		require.Equal(t, c.text, string(text))
		m, err := mask.Decode([]byte(c.text))
		require.NoError(t, err, c.text)
		require.Equal(t, c.mask, m)
	}
	for _, c := range []struct {
		text string
		want mask.Mask
	}{
		{text: `{"type": "causal", "align": "square"}`, want: mask.Causal{}},
		{text: "{\"align\": \"upper_left\",\n \"type\":\t\"causal\"}\n", want: mask.Causal{Align: mask.UpperLeft}},
		{text: `{"type": "causal", "offset": 0}`, want: mask.Causal{}},
		{text: `{"type": "sliding_window"}`, want: mask.SlidingWindow{}},
	} {
		m, err := mask.Decode([]byte(c.text))
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, m)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	const types = "want one of all, and, causal, not, or, prefix, sliding_window"
	for _, c := range []struct{ text, want, reason string }{
		{text: ``, want: `not JSON: unexpected end of JSON input, want one JSON object`},
		{text: `null`, want: `got null, want a JSON object`},
		{text: `"causal"`, want: `got "causal", want a JSON object`},
		{text: `[{"type": "all"}]`, want: `got [{"type": "all"}], want a JSON object`},
		{text: `{"type": "all"} {}`, want: `not JSON: invalid character '{' after top-level value, want one JSON object`,
			reason: "more than one value"},
		{text: `{}`, want: `type: got "", ` + types},
		{text: `{"type": null}`, want: `type: got null, want a string`},
		{text: `{"type": 3}`, want: `type: got 3, want a string`},
		{text: `{"type": "Causal"}`, want: `type: got "Causal", ` + types},
		{text: `{"type": "keep"}`, want: `type: got "keep", ` + types, reason: "holds a node"},
		{text: `{"type": "all", "type": "all"}`, want: `field "type" comes twice`},
		{text: `{"type": "not", "of": {"type": "prefix", "n": 1, "n": 2}}`, want: `of: field "n" comes twice`},
		{text: `{"type": "all", "n": 1}`, want: `unknown field "n"; it has type`},
		{text: `{"type": "prefix", "N": 1}`, want: `unknown field "N"; it has type, n`,
			reason: "encoding/json takes any case"},
		{text: `{"type": "prefix", "n": null}`, want: `n: got null, want a whole number`},
		{text: `{"type": "prefix", "n": "1"}`, want: `n: got "1", want a whole number`},
		{text: `{"type": "prefix", "n": 1.5}`, want: `n: got 1.5, want a whole number`},
		{text: `{"type": "prefix", "n": 99999999999999999999}`,
			want: `n: got 99999999999999999999, want a whole number from -9223372036854775808 to 9223372036854775807`},
		{text: `{"type": "prefix", "n": -1}`, want: `got a prefix of -1 keys, want at least 0`},
		{text: `{"type": "sliding_window", "left": -1}`,
			want: `got a window of -1 to the left and 0 to the right, want both at least 0`},
		{text: `{"type": "causal", "align": "middle"}`,
			want: `align: got "middle", want one of square, upper_left, lower_right`},
		{text: `{"type": "causal", "offset": 1.5}`, want: `offset: got 1.5, want a whole number`},
		{text: `{"type": "func"}`, want: `type: got "func", ` + types, reason: "holds a function"},
		{text: `{"type": "causal", "align": 1}`, want: `align: got 1, want a string`},
		{text: "{\"type\": \"causal\", \"align\": {\n}}", want: `align: got { }, want a string`, reason: "on one line"},
		{text: `{"type": "not"}`, want: `of: got none, want a mask`},
		{text: `{"type": "not", "of": null}`, want: `of: got null, want a JSON object`},
		{text: `{"type": "not", "of": []}`, want: `of: got [], want a JSON object`},
		{text: `{"type": "and"}`, want: `of: got a list of length 0, want two masks or more`},
		{text: `{"type": "or", "of": [{"type": "all"}]}`, want: `of: got a list of length 1, want two masks or more`},
		{text: `{"type": "or", "of": {"type": "all"}}`, want: `of: got {"type": "all"}, want a list`},
		{text: `{"type": "or", "of": [{"type": "all"}, null]}`, want: `of[1]: got null, want a JSON object`},
		{text: `{"type": "and", "of": [{"type": "not", "of": {"type": "prefix", "n": true}}, {"type": "all"}]}`,
			want: `of[0].of.n: got true, want a whole number`},
	} {
		m, err := mask.Decode([]byte(c.text))
		require.EqualError(t, err, c.want, "%s %s", c.text, c.reason)
		require.Nil(t, m)
	}
}

// HoldsNode reports whether a mask holds a node; such a mask has no JSON.
func TestMasksOfNodes(t *testing.T) {
	g := G.NewGraph()
	n := G.NewVector(g, tensor.Int, G.WithShape(2), G.WithName("n"))
	for kind, m := range map[string]mask.Mask{
		"KeyLengths": mask.KeyLengths{Lengths: n}, "Segments": mask.Segments{Query: n}, "Keep": mask.Keep{Keep: n},
		"CausalAt": mask.CausalAt{Start: n}, "Blocks": mask.Blocks{Size: 2, Chosen: n},
	} {
		for _, m := range []mask.Mask{m, mask.Not(m), mask.And(mask.Causal{Align: mask.LowerRight}, m),
			mask.Or(m, mask.All{})} {
			require.True(t, mask.HoldsNode(m))
			_, err := json.Marshal(m)
			require.ErrorContains(t, err, kind+" holds a node: give it with the input of a call, not in a config")
			var wrapped *json.MarshalerError
			require.True(t, errors.As(err, &wrapped))
		}
	}
	for _, c := range written {
		require.False(t, mask.HoldsNode(c.mask), c.text)
	}
	require.False(t, mask.HoldsNode(nil))
}

// A mask that Decode accepts is valid, and it is written in the form that Decode reads. The error about any other text
// is one line.
func FuzzDecode(f *testing.F) {
	for _, c := range written {
		f.Add([]byte(c.text))
	}
	for _, text := range []string{``, `null`, `{"type": "and", "of": [{"type": "all"}]}`,
		`{"type": "prefix", "n": -1}`, `{"type":"all","type":"all"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := mask.Decode(text)
		if err != nil {
			require.Nil(t, m)
			require.False(t, strings.Contains(err.Error(), "\n"), "%q", err)
			return
		}
		require.NoError(t, mask.Validate(m))
		require.False(t, mask.HoldsNode(m))
		back, err := json.Marshal(m)
		require.NoError(t, err)
		again, err := mask.Decode(back)
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
