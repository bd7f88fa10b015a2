package dense

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	want := []Signature{{"a", "float32 (2)"}, {"b", "float32 (3)"}, {"c", "int64 (1)"}}
	require.NoError(t, Compare(want, []Signature{want[2], want[0], want[1]}))
	require.EqualError(t, Compare(want, []Signature{{"b", "float32 (2)"}, {"e", "x"}, {"d", "x"}, want[0]}),
		"missing c; unknown d, e; b is float32 (2), want float32 (3)")

	require.NoError(t, Mismatch(nil, nil, nil))
	require.EqualError(t, Mismatch(nil, []string{"a"}, nil), "unknown a")
	require.EqualError(t, Mismatch([]string{"a", "b", "c"}, []string{"d", "e", "f", "g"}, []string{"h is x, want y"}),
		"missing a, b, c; unknown d, e, f and 1 more; h is x, want y")
}
