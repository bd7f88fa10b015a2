package why

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkWrong(t *testing.T) {
	require.Equal(t, "abXd", markWrong("abxd", "abcd"))
	require.Equal(t, "ab$d", markWrong("ab$d", "abcd"))
}
