// Package refusal tests refusals: each row of a table is a wrong change of a config and the text of the error.
package refusal

import (
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

// Rows maps changes to the errors that they cause. A change is JSON, which config.Decode merges into a config of type
// C, or a func(*C) for a value that JSON cannot express: NaN, a node, a function.
type Rows [][2]any

// Check changes base by one row at a time and requires that config.Decode, or else each of tries, returns the row's
// error after prefix. It also requires that tries accept base unchanged.
func Check[C any](t *testing.T, base C, prefix string, rows Rows, tries ...func(C) error) {
	t.Helper()
	for _, try := range tries {
		require.NoError(t, try(base), "the base")
	}
	for _, row := range rows {
		want, c := prefix+row[1].(string), base
		switch change := row[0].(type) {
		case string:
			if err := config.Decode([]byte(change), &c); err != nil {
				require.EqualError(t, err, want, change)
				continue
			}
		case func(*C):
			change(&c)
		default:
			t.Fatalf("got a change of type %T, want a string or a func(%T)", change, &c)
		}
		for _, try := range tries {
			require.EqualError(t, try(c), want, "%v", row[0])
		}
	}
}
