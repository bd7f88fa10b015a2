package view_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"
	"attention/cmd/attention/internal/view/forward"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// journeyShown is when a journey is shown whole.
const journeyShown = `document.querySelectorAll(".waystep").length > 8 && document.querySelector(".way .nextlist li")`

// journeyOf returns the steps of a token by their names.
func journeyOf(t testing.TB, dir, text string, layer, token int) map[string]forward.JourneyStep {
	m, err := forward.Open(dir)
	require.NoError(t, err)
	l, err := m.Forward(t.Context(), forward.Request{Text: text})
	require.NoError(t, err)
	j, err := l.Journey(t.Context(), layer, token)
	require.NoError(t, err)
	steps := map[string]forward.JourneyStep{}
	for _, s := range j.Steps {
		steps[s.Name] = s
	}
	return steps
}

// openStep opens a step with the keyboard.
func (p *page) openStep(name string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-stage=%q] summary`, name))), chromedp.KeyEvent(kb.Enter))
	p.waitFor(fmt.Sprintf(`document.querySelector("[data-stage='%s'] .entry")`, name))
}

// requireStep requires that an open step lists the largest numbers of a line, each with the sum or product that gives
// it.
func (p *page) requireStep(name string, line []float32) {
	p.t.Helper()
	of := fmt.Sprintf(`[data-stage=%q] `, name)
	entries := js[[][]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => {
		e.focus();
		return [parseInt(e.querySelector(".what").textContent), e.lastChild.textContent, e.closest(".opened").querySelector(".numbers").textContent].map(String);
	})`, of+".entry"))
	require.Len(p.t, entries, min(10, len(line)), name)
	for _, e := range entries {
		at := int(float(p.t, e[0]))
		require.InDelta(p.t, line[at], float(p.t, e[1]), 1e-4, "%s, number %d", name, at)
		require.True(p.t, strings.HasSuffix(e[2], " = "+e[1]), e[2])
	}
}

// Each step opens and shows the library's numbers, from the first vector to the next token, with the mouse and the
// keyboard. The panel follows a change of the token, head or layer.
func TestJourneyShowsTheLibrarysNumbers(t *testing.T) {
	t.Parallel()
	const text = "abc défg\nab"
	dir := gptFolder(t)
	p := openPage(t, "panel=journey&layer=1&head=2&q=4", "--model", dir, "--text", text)
	p.waitFor(journeyShown)
	steps := journeyOf(t, dir, text, 1, 4)
	p.openStep("after attention")
	p.requireStep("after attention", steps["after attention"].Values)
	for name, line := range map[string][]float32{
		"embedded": steps["embedded"].Values, "attention norm": steps["attention norm"].Values,
		"q": steps["q"].Values[8:], "weights": steps["weights"].Values[22:27], "heads": steps["heads"].Values[8:],
		"up": steps["up"].Values, "blocks": steps["blocks"].Values[12:], "masked": steps["scores"].Values[22:27],
		"activated": steps["activated"].Values, "logits": steps["logits"].Values,
	} {
		p.openStep(name)
		p.requireStep(name, line)
	}
	require.Contains(t, p.text(`[data-stage="activated"] .numbers`), "gelu(")
	require.Regexp(t, `^embedded\[\d+\] = tokens \+ positions = −?\d\.\d+ \+ −?\d\.\d+ = −?\d\.\d+$`, p.text(`[data-stage="embedded"] .numbers`))
	require.Regexp(t, `^weights\[\d .\] = softmax\(masked\) = exp\(.*\) / \(exp\(.*\) = 0\.\d+$`, p.text(`[data-stage="weights"] .numbers`))
	require.Regexp(t, `^heads\[\d\] = .* = 0\.\d+·.* = −?\d\.\d+$`, p.text(`[data-stage="heads"] .numbers`))
	require.Contains(t, p.text(".attended > .note"), "6 of 11 tokens are hidden")

	for _, name := range []string{"scores", "masked", "weights"} { // the tokens are below
		require.Equal(t, "abc·défg⏎ab", p.text(fmt.Sprintf("[data-stage=%q] .letters", name)))
	}
	require.Equal(t, 3, js[int](p, `document.querySelectorAll(".letters").length`))
	require.Equal(t, "5", js[string](p, `(() => {
		const cells = document.querySelector("[data-stage=weights] .cells");
		const { left, width } = cells.getBoundingClientRect();
		cells.dispatchEvent(new PointerEvent("pointermove", { clientX: left + 5.5 / 11 * width }));
		return [...document.querySelectorAll(".pointed")].map((b) => b.dataset.q).join();
	})()`))
	js[bool](p, `document.querySelector("[data-stage=weights] .cells").dispatchEvent(new PointerEvent("pointerleave"))`)
	require.False(t, js[bool](p, `!!document.querySelector(".pointed")`))

	p.click(`[data-q="7"]`)
	p.waitFor(`document.querySelector("h2").textContent.includes("token 7")`)
	require.Contains(t, js[string](p, "location.hash"), "q=7")
	p.requireStep("after attention", journeyOf(t, dir, text, 1, 7)["after attention"].Values)
	p.do(chromedp.Focus(chromedp.CSS(`[data-q="7"]`)), chromedp.KeyEvent(kb.ArrowLeft+kb.Enter))
	p.waitFor(`document.querySelector("h2").textContent.includes("token 6")`)
	p.click(`[data-keep="Block before"]`)
	p.waitFor(`document.querySelector("[data-part=attention] h3").textContent.includes("layer 0")`)
	p.requireStep("q", journeyOf(t, dir, text, 0, 6)["q"].Values[8:])
	p.set("panel=journey&layer=1&head=2&q=4&factors=1x2x0&opened=heads")
	p.waitFor(`document.querySelector("[data-stage=heads] .entry .value")?.textContent === "0.0000"`)
}

// A page in a file has the journeys of its texts. Every kind of model has a journey, or the panel says why it has none.
func TestJourneysOfModels(t *testing.T) {
	t.Parallel()
	llama := commandtest.SmallLlama(t)
	linear, _, _ := commandtest.DecoderRunOf(t, `{"vocab_size": 5, "context_length": 6, "num_layers": 2, "pattern": [0, 1],
		"blocks": [{"attention": {"embed_dim": 8, "num_heads": 2}, "linear": {}},
		{"attention": {"embed_dim": 8, "num_heads": 2}}]}`)
	p := openPage(t, "panel=journey", "--model", llama, "--model", layerRun(t), "--model", datesRun(t, 1), "--model", linear)
	p.waitFor(journeyShown)
	require.Equal(t, 1, js[int](p, `document.querySelectorAll("[data-stage='turned q']").length`))
	require.Equal(t, 1, js[int](p, `document.querySelectorAll("[data-stage=gate]").length`))
	p.screenshots(t, "journey-llama")
	p.set("panel=journey&model=1")
	p.waitFor(`!document.querySelector("[data-part=mlp]") && document.querySelector(".way .nextlist li")`)
	p.screenshots(t, "journey-layer")
	p.set("panel=journey&model=2")
	p.waitFor(`document.querySelector("main").textContent.includes("continues a text")`)
	p.set("panel=journey&model=3&opened=heads")
	p.waitFor(`document.querySelector("[data-stage=heads] .entry") && !document.querySelector(".attended, [data-stage=weights]")`)

	file := filepath.Join(t.TempDir(), "page.html")
	var notes bytes.Buffer
	require.NoError(t, commandtest.Run(context.Background(), &notes, &notes, view.New(), "--model", llama, "--text",
		"the cat", "--export", file))
	require.Empty(t, notes.String())
	p = tab(t, "", "file://"+file)
	p.open("file://" + file + "#panel=journey&layer=1&head=1&q=0")
	p.waitFor(journeyShown)
	p.openStep("after mlp")
	p.requireStep("after mlp", journeyOf(t, llama, "the cat", 1, 0)["after mlp"].Values)
}

// The panel violates no rule of axe-core, closed and open, at both sizes; if all tests run, in both colour schemes.
func TestJourneyIsAccessible(t *testing.T) {
	t.Parallel()
	script := axe(t)
	p := openPage(t, "panel=journey&layer=1&head=1", "--model", gptFolder(t), "--text", "abc défg\nab")
	p.waitFor(journeyShown)
	for _, name := range []string{"q", "scores", "activated"} {
		p.openStep(name)
	}
	checkPanels(t, p, script, []panelState{{"panel=journey&layer=0&head=2", journeyShown}})
}
