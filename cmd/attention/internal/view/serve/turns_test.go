package serve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What is computed in advance waits until no reader waits, one that comes meanwhile included, or until nobody wants it.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		require.NoError(t, turns.last(t.Context()))
		end, other := turns.first(), turns.first()
		passed := false
		go func() {
			require.NoError(t, turns.last(context.Background()))
			passed = true
		}()
		synctest.Wait()
		end()
		time.Sleep(2 * drawing)
		synctest.Wait()
		require.False(t, passed, "another reader waits")
		other()
		synctest.Wait()
		require.False(t, passed, "its page draws")
		time.Sleep(drawing)
		synctest.Wait()
		require.True(t, passed)

		defer turns.first()()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, turns.last(ctx), context.Canceled)
	})
}
