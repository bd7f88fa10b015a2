package view_test

import (
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// The products of a pair add up to its score, and the last step is the library's weight.
func TestPairSumsToTheScore(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "panel=pair&q=7&k=3", "--model", commandtest.WriteGPT(t, g), "--text", text)
	check := func(weight float64) {
		t.Helper()
		rows := p.csv(".tools .csv")
		require.Equal(t, []string{"d", "query", "key", "product"}, rows[0])
		sum := 0.0
		for _, row := range rows[1:] {
			require.InDelta(t, float(t, row[1])*float(t, row[2]), float(t, row[3]), 1e-12)
			sum += float(t, row[3])
		}
		require.Len(t, rows, 5)
		values := js[[]string](p, `[...document.querySelectorAll(".steps .value")].map((e) => e.textContent)`)
		require.Len(t, values, 5)
		require.InDelta(t, sum, float(t, values[0]), 1e-5)
		require.InDelta(t, sum/2, float(t, values[1]), 1e-5, "1/√4")
		require.InDelta(t, weight, float(t, values[4]), 1e-5)
	}
	p.waitFor(`document.querySelector(".steps")`)
	check(weights[0][7*11+3])
	p.choose(".tools .tools .choice:first-child select", "1")
	p.choose(".tools .tools .choice:last-child select", "2")
	p.choose(`[data-keep="k"] select`, "0")
	p.waitFor(`document.querySelector("h2").textContent.includes("key 0 “a”") && location.hash.includes("head=2")`)
	p.waitFor(`document.querySelector(".tools .tools .choice:last-child select").value === "2"`)
	check(weights[1][2*121+7*11])
	p.choose(`[data-keep="k"] select`, "8")
	p.waitFor(`document.querySelector(".steps").textContent.includes("does not see")`)
	require.Equal(t, 11, js[int](p, `document.querySelectorAll('[data-keep="q"] option').length`))
}
