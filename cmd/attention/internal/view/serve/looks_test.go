package serve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A look that the server has forgotten is no error: the answer says so, and the same request makes the same look.
func TestForgottenLooks(t *testing.T) {
	s := served(t)
	look := func(text string) string {
		code, body, _ := ask(t, "POST", s.URL+"look", fmt.Sprintf(`{"text": %q}`, text), nil)
		require.Equal(t, 200, code, body)
		var got struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		return got.ID
	}
	paths := func(id string) (all []string) {
		for _, what := range []string{"head", "overview", "thumbnails", "values"} {
			all = append(all, what+"?layer=1&head=2&side=640&look="+id)
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
	first := look("abc")
	before := answers(first)
	for i := range maxLooks {
		look(strings.Repeat("a", i+1))
	}
	require.Len(t, s.looks.kept, maxLooks)
	for _, body := range answers(first) {
		require.Contains(t, body, `"gone":true`)
		require.Less(t, len(body), 60, "nothing else")
	}
	require.Equal(t, first, look("abc"), "the name is the request's")
	require.Equal(t, before, answers(first))
}
