package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableListsAllExports(t *testing.T) {
	want, err := list(filepath.Join("..", ".."))
	require.NoError(t, err)
	got, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "the packages export other things than the table lists: run go generate")
}
