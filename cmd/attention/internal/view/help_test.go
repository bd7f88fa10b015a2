package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The first visit shows three hints, and later visits none.
func TestHints(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	js[string](p, `document.cookie = "attention-hints=; max-age=0; path=/"`)
	p.do(chromedp.Reload())
	p.waitFor(arcsDrawn)
	require.Equal(t, 3, js[int](p, `document.querySelectorAll(".hints li").length`))
	p.click(".hints button")
	require.Zero(t, js[int](p, `document.querySelectorAll(".hints").length`))
	p.do(chromedp.Reload())
	p.waitFor(arcsDrawn)
	require.Zero(t, js[int](p, `document.querySelectorAll(".hints").length`))
}

// Each statistic has an explanation, which the keyboard can show, too.
func TestTips(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads", "--model", gptFolder(t), "--text", "abc défg")
	p.waitFor(`document.querySelectorAll(".statistics thead button").length === 8`)
	for by, says := range map[string]string{"entropy": "natural logarithm", "telling": "few keys"} {
		p.do(chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-by="%s"]`, by))))
		sentence := js[string](p, fmt.Sprintf(`document.querySelector('[data-by="%s"]').getAttribute("aria-description")`, by))
		require.Greater(t, len(sentence), 60)
		require.Contains(t, sentence, says)
		p.waitFor(fmt.Sprintf(`!document.querySelector(".tip").hidden && document.querySelector(".tip").textContent === %q`, sentence))
	}
	p.do(chromedp.KeyEvent(kb.Escape))
	p.waitFor(`document.querySelector(".tip").hidden`)
}

// The tab key reaches the text, the chosen token and head, and every control.
func TestTheKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=1&head=1&q=4", "--model", gptFolder(t), "--text", "abc défg")
	p.waitFor(arcsDrawn)
	p.do(chromedp.Focus(chromedp.CSS("#text")))
	var reached []string
	for range 40 {
		reached = append(reached, js[string](p, `((e) => e.id || e.dataset.keep || e.dataset.k || e.getAttribute("aria-label") ||
			e.textContent)(document.activeElement)`))
		p.do(chromedp.KeyEvent(kb.Tab))
	}
	for _, want := range []string{"text", "4", "layer 1 head 1", "off", "Next token", "Write on", "temperature"} {
		require.Contains(t, reached, want)
	}
	require.True(t, slices.ContainsFunc(reached, func(name string) bool { return strings.HasPrefix(name, "Hide ") }))
	require.NotContains(t, reached, "3", "tokens are one stop of the tab key")
}

// A larger number never looks smaller than a smaller one.
func TestNumbersKeepTheirOrder(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	for _, write := range []string{"number(v, 2)", "number(v, 3)", "number(v)", "percent(v)", "percent(v, 2)", "short(v)"} {
		texts := js[[]string](p, fmt.Sprintf(`Promise.all([import("./dom.js"), import("./axes.js")]).then(
			([{number, percent}, {short}]) => Array.from({length: 900}, (_, i) => 10 ** (i / 100 - 6)).map((v) => %s))`, write))
		last := 0.0
		for _, text := range texts {
			text = strings.TrimLeft(strings.TrimSuffix(text, " %"), "< ")
			got := float(t, text)
			require.GreaterOrEqual(t, got, last, "%s: %s", write, text)
			require.Positive(t, got, write)
			last = got
		}
	}
}

// longGPT writes the folder of a GPT that reads 80 characters.
func longGPT(t testing.TB) string {
	vocabulary, err := text.NewVocabulary("abcd ")
	require.NoError(t, err)
	params := layers.NewParams(tensor.Float32, 7)
	m, err := layers.NewGPT(params.Scope(""), layers.GPTConfig{VocabSize: vocabulary.Len(), ContextLength: 80,
		EmbedDim: 8, NumLayers: 1, NumHeads: 2, Activation: "gelu_new", TieWordEmbeddings: true, Bias: true})
	require.NoError(t, err)
	return commandtest.WriteGPT(t, &pretrained.GPT{Model: m, Params: params, Tokenizer: vocabulary, EndOfText: -1})
}

// Up to 64 tokens are written at both axes of a matrix. For more tokens the text is beside it and follows the chosen
// cell.
func TestMatricesHaveTheirTokens(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads", "--model", longGPT(t), "--text", strings.Repeat("abcd", 16))
	p.waitFor(headReady)
	for _, width := range []int64{1280, 390} {
		p.do(chromedp.EmulateViewport(width, 844))
		p.settle()
		picture, geometry := p.canvas(".heatmap canvas")
		cell, x, y := float(t, geometry["cell"]), float(t, geometry["x"]), float(t, geometry["y"])
		ink := func(x0, x1, y0, y1 float64) bool {
			for px := int(x0); px < int(x1); px++ {
				for py := int(y0); py < int(y1); py++ {
					if pixel(picture, px, py) != [3]uint8{255, 255, 255} {
						return true
					}
				}
			}
			return false
		}
		for i := range 64 {
			at := float64(i) * cell
			require.True(t, ink(x-14, x-3, y+at, y+at+cell), "row %d at width %d", i, width)
			require.True(t, ink(x+at, x+at+cell, y-14, y-3), "column %d at width %d", i, width)
		}
	}
	require.Empty(t, p.text(".beside"))
	p.set("panel=attention&text=" + strings.Repeat("abcd ", 16))
	p.waitFor(arcsDrawn)
	require.True(t, js[bool](p, `((token, picture) => token.bottom <= picture.bottom + 1)(
		document.querySelector(".token[aria-pressed=true]").getBoundingClientRect(),
		document.querySelector(".arcspicture").getBoundingClientRect())`), "the chosen token of a long text is seen")
	p.do(chromedp.EmulateViewport(1280, 800))
	p.set("panel=heads&text=" + strings.Repeat("abcd", 20) + "&q=50&k=49")
	p.waitFor(`document.querySelectorAll(".beside b").length === 2`)
	require.Equal(t, []string{"c", "b"}, js[[]string](p, `[...document.querySelectorAll(".beside b")].map((e) => e.textContent)`))
	p.do(chromedp.Focus(chromedp.CSS(".heatmap canvas")), chromedp.KeyEvent(kb.ArrowDown))
	p.waitFor(`document.querySelector(".beside b").textContent === "d"`)
}
