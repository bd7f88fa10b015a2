package config_test

import (
	"encoding/json"
	"errors"
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

// leaves returns the values of a JSON object.
func leaves(t *testing.T, text, from string) config.Values {
	tree, err := config.ParseTree([]byte(text))
	require.NoError(t, err, text)
	return config.Leaves(tree, from)
}

func TestValues(t *testing.T) {
	v := leaves(t, `{"a": {"b": 1, "c": {"d": [2, 3]}}, "e": {}, "f": null, "g": {"h": null}}`, "a file")
	require.Equal(t, config.Values{
		"a.b":   {JSON: json.Number("1"), From: "a file"},
		"a.c.d": {JSON: []any{json.Number("2"), json.Number("3")}, From: "a file"},
		"e":     {JSON: config.Tree{}, From: "a file"},
		"g":     {JSON: config.Tree{}, From: "a file"},
	}, v, "a null counts as absent")
	require.Empty(t, v.Text("a.b"), "a number is no text")
	_, err := config.ParseTree([]byte(`{"a": 1, "a": 2}`))
	require.ErrorContains(t, err, `"a" comes twice`)
}

func TestValuesOf(t *testing.T) {
	type inner struct {
		B  int    `json:"b"`
		BC string `json:"bc"`
	}
	type outer struct {
		A inner `json:"a"`
		D bool  `json:"d"`
	}
	c := outer{inner{1, "x"}, true}
	one, text := config.Value{JSON: json.Number("1")}, config.Value{JSON: "x"}
	for _, row := range []struct {
		reason string
		paths  []string
		want   config.Values
	}{
		{reason: "all", want: config.Values{"a.b": one, "a.bc": text, "d": {JSON: true}}},
		{reason: "below a path", paths: []string{"a"}, want: config.Values{"a.b": one, "a.bc": text}},
		{reason: "at a path, which begins another", paths: []string{"a.b"}, want: config.Values{"a.b": one}},
		{reason: "at no path", paths: []string{"a.x"}, want: config.Values{}},
	} {
		v, err := config.ValuesOf(c, row.paths...)
		require.NoError(t, err, row.reason)
		require.Equal(t, row.want, v, row.reason)
		back := c
		require.NoError(t, v.Decode(&back), row.reason)
		require.Equal(t, c, back, row.reason)
	}
	require.EqualError(t, config.Values{"a.b": {JSON: "x"}}.Decode(&c), `a.b: got "x", want a whole number`)
	require.ErrorContains(t, config.Values{"a.x": one}.Decode(&c), `a: unknown field "x"; it has b, bc`)
}

func TestMerge(t *testing.T) {
	replace := []config.Replacement{{Path: "kind", Old: []string{"of"}}, {Path: "name", Equal: true, Old: []string{"sum"}}}
	for _, row := range []struct{ reason, base, over, want string }{
		{"objects are merged", `{"a": {"b": 1}, "c": 2}`, `{"a": {"d": 3}, "c": 4}`, `{"a": {"b": 1, "d": 3}, "c": 4}`},
		{"another kind", `{"kind": "x", "of": {"a": 1}, "off": 2}`, `{"kind": "y", "of": {"b": 3}}`,
			`{"kind": "y", "of": {"b": 3}, "off": 2}`},
		{"the same kind", `{"kind": "x", "of": {"a": 1}}`, `{"kind": "x"}`, `{"kind": "x", "of": {"a": 1}}`},
		{"a kind without one before", `{"of": {"a": 1}}`, `{"kind": "x"}`, `{"kind": "x", "of": {"a": 1}}`},
		{"the same name, given anew", `{"name": "x", "sum": 1}`, `{"name": "x"}`, `{"name": "x"}`},
	} {
		merged := leaves(t, row.base, "")
		merged.Merge(leaves(t, row.over, ""), replace)
		require.Equal(t, leaves(t, row.want, ""), merged, row.reason)
	}
}

func TestOrigin(t *testing.T) {
	type inner struct {
		B int `json:"b"`
	}
	type outer struct {
		A []inner `json:"a"`
		C int     `json:"c"`
	}
	v := leaves(t, `{"a": [{"b": 1}]}`, "a file")
	v.Merge(leaves(t, `{"c": 2}`, ""), nil)
	require.Equal(t, "a file", v.Origin(config.Errorf(outer{}, "A[0].B", "got 1")))
	require.Empty(t, v.Origin(config.Errorf(outer{}, "C", "got 2")), "of no origin")
	require.Empty(t, v.Origin(config.Errorf(outer{}, "", "got nothing")), "about the whole")
	require.Empty(t, v.Origin(errors.New("another")))
}
