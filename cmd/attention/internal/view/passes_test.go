package view_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// A page whose text the server has forgotten shows its heads all the same, without an error in the console.
func TestForgottenTexts(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads", "--model", commandtest.WriteGPT(t, commandtest.SmallGPT(t)), "--text", "abc défg\nab")
	before := p.csv(".wide .tools .csv")
	for i := range 8 { // other pages look at other texts
		answer, err := http.Post(p.url+"forward", "application/json", strings.NewReader(
			fmt.Sprintf(`{"text": %q}`, strings.Repeat("a", i+1))))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
	}
	const asked = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/forward")).length`
	p.waitFor(asked + ` >= 1`) // the browser counts when it has time
	require.Equal(t, 1, js[int](p, asked))
	p.set("panel=heads&layer=1&head=mean") // of three heads, which are asked for at once
	require.Equal(t, "Layer 1, mean of its heads", p.text("h2.head"))
	p.waitFor(asked + ` >= 2`)
	require.Equal(t, 2, js[int](p, asked), "the request is sent again once")
	require.NotEqual(t, before, p.csv(".wide .tools .csv"))
}
