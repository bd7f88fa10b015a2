package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/view/examples"
	"attention/cmd/attention/internal/view/forward"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Without a model and a run the page has two models of its own. A date is written letter by letter: the space key
// pauses the writing and goes on. A name that comes back looks at what followed it before.
func TestThePageBringsModels(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	p := tab(t, url, url)
	p.holdTimer(250) // a letter
	p.open(url)
	require.Equal(t, []string{"A date", "A name comes back", "Your model"},
		js[[]string](p, `[...document.querySelectorAll(".chips .chip")].map((e) => e.textContent)`))
	coming := func() int { return js[int](p, `document.querySelectorAll(".token.coming").length`) }
	require.Equal(t, 9, coming())
	p.ticks(2)
	require.Equal(t, 7, coming())
	p.do(chromedp.KeyEvent(" "))
	require.Equal(t, "Write it", p.text("#write"))
	require.Zero(t, coming(), "what waits is shown")
	p.do(chromedp.KeyEvent(" "))
	require.Equal(t, 7, coming())
	p.ticks(9)
	require.Zero(t, coming())
	require.Equal(t, "Write it", p.text("#write"))
	require.Regexp(t, `^3 looks at 3 (9\d|100) %$`, p.text(".sentence"))

	p.click(`[data-model="1"]`)
	p.waitFor(`document.querySelector(".sentence").textContent.startsWith("·Tom")`)
	require.Regexp(t, `^·Tom looks at ·cooks `, p.text(".sentence"))
	require.Contains(t, p.text(".candidate .what"), "cooks")
	require.Equal(t, "What followed the same token before",
		js[string](p, `document.querySelector('.heads-side [aria-pressed="true"]').title`))
	require.Equal(t, "The token itself · 4", p.text(".heads-side details:nth-of-type(6) summary"), "of the first layer")
	p.click(".chips .chip:not([data-model])")
	require.Contains(t, p.text(".chips .note"), "attention view --model")
	p.set("panel=compare&model=1")
	p.waitFor(`document.querySelectorAll(".three canvas").length === 3`)
}

// The models are small, and do what they are shown for.
func TestTheSamplesAreRight(t *testing.T) {
	t.Parallel()
	all, remove, err := examples.Unpack()
	require.NoError(t, err)
	defer func() { require.NoError(t, remove()) }()
	models := map[string]*forward.Model{}
	for _, e := range all {
		info, err := os.Stat(filepath.Join(e.Folder, "model.safetensors"))
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(700_000))
		models[e.Title], err = forward.Open(e.Folder)
		require.NoError(t, err)
	}
	for written, want := range map[string]string{
		"wednesday, 3 september 1975": "1975-09-03", "12 may 2003": "2003-05-12"} {
		p, err := models["A date"].Forward(t.Context(), forward.Request{Text: written})
		require.NoError(t, err)
		require.Equal(t, written+"\n"+want, p.Whole)
	}
	names, acts := strings.Fields("Bob Eva Max Lea Sam Mia"), strings.Fields("swims sleeps paints runs writes dances")
	for i := range 6 {
		at := func(n int) string { return fmt.Sprintf("%s %s. ", names[(i+n)%6], acts[(i*5+n)%6]) }
		text := at(0) + at(1) + at(2) + at(1) + at(2) + names[(i+1)%6]
		p, err := models["A name comes back"].Forward(t.Context(), forward.Request{Text: text})
		require.NoError(t, err)
		require.Equal(t, " "+acts[(i*5+1)%6], p.Next[0][0].Text, text)
		require.Greater(t, p.Next[0][0].Probability, 0.5, text)
	}
}

// The page with its own models violates no rule of axe-core, and a phone's tabs are one row, in which the chosen one is
// in sight.
func TestThePageOfSamplesIsAccessible(t *testing.T) {
	t.Parallel()
	script := axe(t)
	p := openPage(t, "model=1&q=3", "--run", runFolder(t), "--model", gptFolder(t), "--text", "abc")
	p.do(chromedp.EmulateViewport(390, 844))
	for _, panel := range []string{"attention", "steps"} {
		p.set("panel=" + panel)
		require.Equal(t, 1, js[int](p, `new Set([...document.querySelectorAll("nav button")].map((b) => b.offsetTop)).size`))
		require.True(t, js[bool](p, `((b, n) => b.left >= n.left - 1 && b.right <= n.right + 1)(
			document.querySelector("nav [aria-current=page]").getBoundingClientRect(),
			document.querySelector("nav").getBoundingClientRect())`), panel)
	}
	url, _ := serve(t)
	p = tab(t, url, url)
	p.open(url + "#model=1&q=3")
	checkPanels(t, p, script, []panelState{{"panel=attention&model=1&q=3", arcsDrawn}, {"panel=attention&q=3", arcsDrawn}})
}
