package view_test

import (
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/testenv"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// axe returns axe-core's script, which npm ci installs.
func axe(t *testing.T) string {
	script, err := os.ReadFile("web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("there is no axe-core: npm ci in cmd/attention/internal/view/web installs it")
	}
	return string(script)
}

// themes are the schemes that axe-core looks at.
func themes() []string {
	if testenv.All {
		return []string{"light", "dark"}
	}
	return []string{"light"}
}

// requireAccessible requires that the page in its present state violates no rule of axe-core.
func (p *page) requireAccessible(what, script string) {
	p.t.Helper()
	js[bool](p, script+"; true")
	require.Empty(p.t, js[[]string](p, `axe.run().then((r) => r.violations.map((v) =>
		v.id + ": " + v.nodes.map((n) => n.html).join(" | ").slice(0, 300)))`), what)
}

// No panel violates a rule of axe-core, at both sizes; if all tests run, in both colour schemes.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	script := axe(t)
	dir := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	p := openPage(t, "panel=heads", "--run", runFolder(t), "--model", dir, "--model", dir, "--text", "abc défg\nab")
	p.waitFor(headReady)
	checkPanels(t, p, script, []panelState{
		{"panel=attention&q=3", arcsDrawn},
		{"panel=attention&hide=2&factors=1x1x0", `document.querySelector(".arcs .before")`},
		{"panel=heads&q=3&k=1", headReady},
		{"panel=pair&q=3&k=1", `document.querySelector(".steps")`},
		{"panel=compare", `document.querySelectorAll(".three canvas").length === 3`},
		{"panel=training", `document.querySelector("#moment")`},
	})
	p = openPage(t, "panel=heads", "--model", datesRun(t, 1), "--model", datesRun(t, 2))
	p.waitFor(headReady)
	checkPanels(t, p, script, []panelState{
		{"panel=heads&layer=2&q=3&k=1", headReady},
		{"panel=pair&layer=2&q=3&k=1", `document.querySelector(".steps")`},
		{"panel=attention&hide=2&layer=2", `document.querySelectorAll("button.place").length === 20`},
		{"panel=compare&layer=2", `document.querySelectorAll(".three canvas").length === 3`},
	})
}

// panelState is a state of a panel, and a condition that holds when it is shown.
type panelState struct{ state, ready string }

// checkPanels runs axe-core on panels.
func checkPanels(t *testing.T, p *page, script string, states []panelState) {
	for _, state := range states {
		for _, theme := range themes() {
			p.set(state.state + "&theme=" + theme)
			p.waitFor(state.ready)
			p.requireAccessible(state.state+", "+theme, script)
			p.do(chromedp.EmulateViewport(390, 844))
			p.waitFor(`document.documentElement.scrollWidth <= 390`) // on a phone the page does not scroll sideways
			if testenv.All || strings.HasPrefix(state.state, "panel=attention") {
				p.requireAccessible(state.state+", "+theme+", of a phone", script)
			}
			p.do(chromedp.EmulateViewport(1280, 800))
		}
		p.screenshots(t, "panel-"+state.state[6:9])
	}
}

// A token that contains markup is shown as text, and a part of a character as its bytes.
func TestTextsAreNoMarkup(t *testing.T) {
	t.Parallel()
	const markup = `<script>top.x=1</script><b>&amp;`
	vocabulary, err := text.NewVocabulary(markup)
	require.NoError(t, err)
	params := layers.NewParams(tensor.Float32, 7)
	m, err := layers.NewGPT(params.Scope(""), layers.GPTConfig{VocabSize: vocabulary.Len(), ContextLength: 60,
		EmbedDim: 12, NumLayers: 1, NumHeads: 3, Activation: "gelu_new", TieWordEmbeddings: true, Bias: true})
	require.NoError(t, err)
	dir := commandtest.WriteGPT(t, &pretrained.GPT{Model: m, Params: params, Tokenizer: vocabulary, EndOfText: -1})
	p := openPage(t, "panel=heads", "--model", dir, "--text", markup)
	p.waitFor(headReady)
	p.set("panel=attention")
	p.waitFor(arcsDrawn)
	require.Equal(t, markup, js[string](p,
		`[...document.querySelectorAll(".strips .token")].map((e) => e.textContent).join("")`))
	require.Equal(t, markup, js[string](p, `document.querySelector("textarea").value`))
	require.False(t, js[bool](p, `"x" in window`))
	require.Equal(t, 1, js[int](p, `document.querySelectorAll("script").length`))
}

// If the server has ended, the page says what to do.
func TestServerGone(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads", "--model", commandtest.WriteGPT(t, commandtest.SmallGPT(t)), "--text", "abc")
	p.waitFor(headReady)
	p.waitFor(`document.querySelectorAll(".statistics tbody tr").length === 6`)
	require.NoError(t, p.stop(), "as after Ctrl-C")
	p.set("panel=heads&layer=1&head=1")
	p.waitFor(`document.querySelector("[role=alert]")?.textContent.includes("start it again and reload")`)
	require.Equal(t, "Layer 1, head 1", p.text("h2.head"))
	require.Zero(t, js[int](p, `document.querySelectorAll(".wide canvas, .wide .legend").length`), "of the head before")
	p.expectProblem("ERR_CONNECTION_REFUSED")
}
