package jsonkeys_test

import (
	"strings"
	"testing"

	"attention/internal/jsonkeys"

	"github.com/stretchr/testify/require"
)

func TestUnique(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `1`, `{"a": {"b": 1, "c": [{"b": 1}, {"b": 2}]}, "b": "b", "A": 0}`,
		``, `{`, `{"a": 1, "a"`, `{"a": 1} {"a": 1}`, strings.Repeat("[", 1<<20)} { // what is no JSON others refuse
		require.NoError(t, jsonkeys.Unique([]byte(text)), "%.30s", text)
	}
	for _, text := range []string{`{"a": 1, "a": 1}`, `{"b": [0, {"a": null, "c": {"a": 1}, "a": {}}]}`, `{"a": 1, "\u0061": 2}`} {
		require.EqualError(t, jsonkeys.Unique([]byte(text)), `field "a" comes twice`)
	}
}
