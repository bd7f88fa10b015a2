package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownCommandIsAnError(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"trian"})
	root.SetOut(io.Discard)
	require.ErrorContains(t, root.Execute(), `unknown command "trian"`)
}
