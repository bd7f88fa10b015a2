package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Every package outside of internal and cmd is walked, or has a reason in unwalked.
func TestEveryRoomIsWalkedOrHasAReason(t *testing.T) {
	module := os.DirFS(filepath.Join("..", ".."))
	var got []string
	for _, top := range []string{"graph", "layers", "train"} {
		require.NoError(t, fs.WalkDir(module, top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				var files []string
				files, err = fs.Glob(module, path+"/*.go")
				if slices.ContainsFunc(files, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
					got = append(got, path)
				}
			}
			return err
		}))
	}
	want := slices.Clone(rooms)
	for room, reason := range unwalked {
		require.NotEmpty(t, reason)
		want = append(want, room)
	}
	require.ElementsMatch(t, want, got)
}
