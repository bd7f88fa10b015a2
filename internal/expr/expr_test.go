package expr_test

import (
	"errors"
	"testing"

	"attention/internal/expr"

	"github.com/stretchr/testify/require"
)

func TestFormulaKeepsTheFirstError(t *testing.T) {
	one, first, second := 1, errors.New("first"), errors.New("second")
	var f expr.Formula[int]
	require.Equal(t, &one, f.Of(&one, nil))
	require.NoError(t, f.Err())

	require.Nil(t, f.Of(&one, first))
	require.Nil(t, f.Of(&one, nil), "a step after a failed one has no result")
	a, b := f.Of2(&one, &one, second)
	require.Nil(t, a)
	require.Nil(t, b)
	require.Equal(t, first, f.Err())
}
