package view_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// If the server has forgotten the text of a page, the page still shows its heads, without an error in the console.
func TestForgottenTexts(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads", "--model", commandtest.WriteGPT(t, commandtest.SmallGPT(t)), "--text", "abc défg\nab")
	before := p.csv(".wide .tools .csv")
	for i := range 8 { // other pages request other texts
		answer, err := http.Post(p.url+"forward", "application/json", strings.NewReader(
			fmt.Sprintf(`{"text": %q}`, strings.Repeat("a", i+1))))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
	}
	const asked = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/forward")).length`
	p.waitFor(asked + ` >= 1`) // the browser counts when it is idle
	require.Equal(t, 1, js[int](p, asked))
	p.set("panel=heads&layer=1&head=mean") // of three heads, which are requested at once
	require.Equal(t, "Layer 1, mean of its heads", p.text("h2.head"))
	p.waitFor(asked + ` >= 2`)
	require.Equal(t, 2, js[int](p, asked), "the request is sent again once")
	require.NotEqual(t, before, p.csv(".wide .tools .csv"))
}
