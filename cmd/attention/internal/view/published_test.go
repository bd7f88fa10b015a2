package view_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// With only one model, Compare shows two of its heads and their difference.
func TestCompareHeadsOfOneModel(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "panel=compare&layer=1&head=1&q=6&k=2", "--model", commandtest.WriteGPT(t, g), "--text", text)
	for _, second := range []struct {
		state       string
		layer, head int
	}{{"", 1, 2}, {"&layer2=0&head2=1", 0, 1}} {
		p.set("panel=compare&layer=1&head=1&q=6&k=2" + second.state)
		p.waitFor(`[...document.querySelectorAll(".three canvas")].filter((c) => c.dataset.ready === "yes").length === 3`)
		first, other := weights[1][121+6*11+2], weights[second.layer][second.head*121+6*11+2]
		want := fmt.Sprintf("weights %.4f and %.4f, difference %.4f", first, other, other-first)
		require.Contains(t, strings.ReplaceAll(p.text(".readout"), "−", "-"), want)
		title := fmt.Sprintf("Layer %d, head %d", second.layer, second.head)
		require.Contains(t, p.text(".three section:nth-child(2) h3"), title)
	}
}

// The chosen head is scrolled into view if there are many heads.
func TestTheChosenHeadIsInSight(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads&layer=19&head=1", "--model", largeGPT(t, 24, 2, 8), "--text", "abab")
	inSight := `((b, g) => b.top >= g.top && b.bottom <= g.bottom)(
		document.querySelector('.grid [aria-pressed="true"]').getBoundingClientRect(),
		document.querySelector(".grid").getBoundingClientRect())`
	require.True(t, js[bool](p, inSight))
	p.set("panel=heads&layer=0&head=1")
	require.True(t, js[bool](p, inSight))
}

// Long token names do not overlap other elements.
func TestLongNamesCoverNothing(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=1&head=1", "--model", gptFolder(t), "--text", "abc défg\nab")
	p.waitFor(arcsDrawn)
	p.waitFor(`document.querySelector(".candidate .what")`)
	js[bool](p, `(() => { for (const e of document.querySelectorAll(".mostattended th, .candidate .what"))
		e.textContent = "<|a_very_long_special_token|>"; return true; })()`)
	require.LessOrEqual(t, js[float64](p, `Math.max(...[...document.querySelectorAll(".mostattended td")].map((e) =>
		e.getBoundingClientRect().right))`), js[float64](p, `document.querySelector(".next-side").getBoundingClientRect().left`))
	require.Greater(t, js[float64](p, `document.querySelector(".candidate .bars").getBoundingClientRect().width`), 30.0)
}

// A head has the role of what it looks at most, if that has 0.4 of its weight.
func TestRolesOfHeads(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	for statistics, want := range map[string]string{
		`{}`: "other", `{"first": 0.39, "self": 0.3}`: "other", `{"first": 0.4}`: "first",
		`{"previous": 0.9, "first": 0.05}`: "previous", `{"first": 0.5, "after": 0.88}`: "after",
		`{"same": 0.7, "after": 0.1}`: "same", `{"self": 0.6, "previous": 0.41}`: "self",
	} {
		require.Equal(t, want, js[string](p, `import("./roles.js").then((m) => m.roleOf(`+statistics+`))`), statistics)
	}
}
