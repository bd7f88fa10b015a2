package oneline_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"attention/internal/oneline"

	"github.com/stretchr/testify/require"
)

func TestJoin(t *testing.T) {
	require.NoError(t, oneline.Join())
	require.NoError(t, oneline.Join(nil, nil))
	require.Same(t, io.EOF, oneline.Join(nil, io.EOF, nil))

	err := oneline.Join(io.EOF, nil, fs.ErrClosed, &fs.PathError{Op: "open", Path: "a", Err: fs.ErrExist})
	require.EqualError(t, err, "EOF; file already closed; open a: file already exists")
	for _, is := range []error{io.EOF, fs.ErrClosed, fs.ErrExist} {
		require.ErrorIs(t, err, is)
	}
	twice := fmt.Errorf("twice")
	require.EqualError(t, oneline.Join(fmt.Errorf("a: %w", twice), twice, io.EOF, twice), "a: twice; EOF")
	path, ok := errors.AsType[*fs.PathError](err)
	require.True(t, ok)
	require.Equal(t, "a", path.Path)
}

func TestList(t *testing.T) {
	names := strings.Fields("a b c d")
	for n, want := range map[int]string{0: "", 1: "a", 3: "a, b, c", 4: "a, b, c and 1 more"} {
		require.Equal(t, want, oneline.List(names[:n], 3))
	}
}
