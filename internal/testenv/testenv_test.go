package testenv

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlags(t *testing.T) {
	require.Equal(t, "true", flag.Lookup("rapid.nofailfile").Value.String())
	require.Equal(t, map[bool]string{false: "40", true: "100"}[All], flag.Lookup("rapid.checks").Value.String())
}
