package safetensors

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMismatch(t *testing.T) {
	require.NoError(t, Mismatch(nil, nil, nil))
	require.EqualError(t, Mismatch(nil, []string{"a"}, nil), "unknown a")
	require.EqualError(t, Mismatch([]string{"a", "b", "c"}, []string{"d", "e", "f", "g"}, []string{"h is x, want y"}),
		"missing a, b, c; unknown d, e, f and 1 more; h is x, want y")
}
