package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// If the server has forgotten a pass, the answer says so. The same request then computes the same pass again.
func TestForgottenLooks(t *testing.T) {
	s := served(t)
	pass := func(text string) string {
		code, body, _ := ask(t, "POST", s.URL+"forward", fmt.Sprintf(`{"text": %q}`, text), nil)
		require.Equal(t, 200, code, body)
		var got struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		return got.ID
	}
	paths := func(id string) (all []string) {
		for _, what := range []string{"head", "overview", "thumbnails", "values"} {
			all = append(all, what+"?layer=1&head=2&side=640&pass="+id)
		}
		return all
	}
	answers := func(id string) (all []string) {
		for _, path := range paths(id) {
			code, body, _ := ask(t, "GET", s.URL+path, "", nil)
			require.Equal(t, 200, code, path)
			all = append(all, body)
		}
		return all
	}
	first := pass("abc")
	before := answers(first)
	for i := range maxPasses {
		pass(strings.Repeat("a", i+1))
	}
	require.Len(t, s.passes.kept, maxPasses)
	for _, body := range answers(first) {
		require.Contains(t, body, `"gone":true`)
		require.Less(t, len(body), 60, "nothing else")
	}
	require.Equal(t, first, pass("abc"), "the name is the request's")
	require.Equal(t, before, answers(first))
}

// A computation in advance waits until no reader waits, including readers that arrive meanwhile, or until it is
// cancelled.
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
