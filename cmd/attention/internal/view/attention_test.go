package view_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// nextOf returns the probabilities of the next token after a change of the build.
func nextOf(t testing.TB, g *pretrained.GPT, text string, change func(b *layers.Build)) map[string]float64 {
	return nextAt(t, g, text, 1, change)
}

// nextAt is nextOf at a temperature.
func nextAt(t testing.TB, g *pretrained.GPT, text string, temperature float64, change func(b *layers.Build)) map[string]float64 {
	ids, err := g.Tokenizer.Encode(text)
	require.NoError(t, err)
	b := layers.NewBuild(g.Model.Params(), layers.Eval)
	change(b)
	in := b.InputOf(tensor.Int, "ids", len(ids))
	logits := b.Of(g.Model.Forward(b, in))
	require.NoError(t, b.Err())
	vm, err := machine.New(logits)
	require.NoError(t, err)
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	require.NoError(t, vm.RunAll())
	all := logits.Value().Data().([]float32)
	last := all[len(all)-logits.Shape()[1]:]
	sum, next := 0.0, map[string]float64{}
	for _, v := range last {
		sum += math.Exp(float64(v) / temperature)
	}
	for id := range g.Tokenizer.Len() {
		text, err := g.Tokenizer.Decode([]int{id})
		require.NoError(t, err)
		next[text] = math.Exp(float64(last[id])/temperature) / sum
	}
	return next
}

// requireNext requires that a column of the table of next tokens has the ten likeliest tokens and their probabilities.
// Column 1 is before changes, and column 2 after them.
func (p *page) requireNext(column int, want map[string]float64) {
	p.t.Helper()
	largest := slices.Sorted(maps.Values(want))
	n := 0
	for _, row := range p.csv(".next-side .csv")[1:] {
		if row[column] == "" {
			continue
		}
		got := float(p.t, row[column])
		require.InDelta(p.t, want[row[0]], got, 1e-6, row[0])
		require.GreaterOrEqual(p.t, got, largest[len(largest)-10]-1e-6)
		n++
	}
	require.Equal(p.t, 10, n)
}

// arcsDrawn is when the first screen shows where a token looks.
const arcsDrawn = `document.querySelector(".arcs .arc")`

// numbers returns the numbers that texts are.
func numbers(t testing.TB, texts []string) (all []float64) {
	for _, text := range texts {
		all = append(all, float(t, text))
	}
	return all
}

// requireSight requires that tokens have the colours of the weights of the chosen token. Arcs must lead to tokens with
// at least 2 % of the largest weight.
func (p *page) requireSight(weights []float64) {
	p.t.Helper()
	most := slices.Max(weights)
	var arcs []string
	for k, w := range weights {
		var r, g, b uint8
		background := js[string](p, fmt.Sprintf(`getComputedStyle(document.querySelector('.token[data-k="%d"]')).backgroundColor`, k))
		_, err := fmt.Sscanf(background, "rgb(%d, %d, %d)", &r, &g, &b)
		require.NoError(p.t, err, background)
		require.Contains(p.t, weightColours(p.t, w, most), [3]uint8{r, g, b}, "key %d: weight %v of %v", k, w, most)
		if w > 0.02*most {
			arcs = append(arcs, fmt.Sprint(k))
		}
	}
	require.ElementsMatch(p.t, arcs, js[[]string](p, `[...document.querySelectorAll(".arcs .arc")].map((e) => e.dataset.k)`))
}

// told returns how telling a head is on a token of 11, of which tokens 3 and 8 are not letters. The head belongs to the
// second of three layers.
func told(weights [][]float64, head, q int) (most float64) {
	for k := 1; k < q-1; k++ {
		others := 0.0
		for h := range 6 {
			others += weights[h/3][h%3*121+q*11+k]
		}
		w, d := weights[head/3][head%3*121+q*11+k], float64(q-k)
		if q != 3 && q != 8 && k != 3 && k != 8 {
			most = max(most, (w-(others-w)/5)*(d-1)/(d+2))
		}
	}
	return most
}

// The first screen shows the most telling token and head. The reader can click another token or head, and the numbers
// are those of the library.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "", "--model", commandtest.WriteGPT(t, g), "--text", text)
	p.waitFor(arcsDrawn)
	row := func(layer, head, q int) []float64 { return weights[layer][head*121+q*11:][:q+1] }
	best, q := 0, 0 // the most telling head and token
	for h := range 6 {
		for at := range 11 {
			if told(weights, h, at) > told(weights, best, q) {
				best, q = h, at
			}
		}
	}
	// The most telling heads on a token, in order.
	order := func(q int) (names []string) {
		all := []int{0, 1, 2, 3, 4, 5}
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(told(weights, b, q), told(weights, a, q)) })
		for _, h := range all {
			if told(weights, h, q) > 0 {
				names = append(names, fmt.Sprintf("%d · %d", h/3, h%3))
			}
		}
		return names
	}
	const shownNames = `[...document.querySelectorAll("details:first-of-type .headname")].map((e) => e.dataset.name)`
	p.waitFor(`document.querySelector(".heads-side .note").textContent.includes("most telling first")`)
	p.settle()
	require.Equal(t, order(q), js[[]string](p, shownNames))
	require.Equal(t, "Tell most about “"+string([]rune(text)[q])+"”", p.text(".heads-side summary"))
	require.Contains(t, p.text(".where"), fmt.Sprintf("layer %d, head %d, which tells most", best/3, best%3))
	require.Equal(t, "·", js[string](p, `document.querySelectorAll(".strips .token")[3].textContent`))
	p.requireSight(row(best/3, best%3, q))
	p.requireNext(1, nextOf(t, g, text, func(*layers.Build) {}))
	p.screenshots(t, "first")

	p.click(`.token[data-k="7"]`)
	p.requireSight(row(best/3, best%3, 7))
	require.Equal(t, order(7), js[[]string](p, shownNames), "the heads are in order for the chosen token")
	require.Contains(t, p.text(".token.unseen"), "⏎")
	p.click(`[data-layer="1"][data-head="2"]`)
	p.requireSight(row(1, 2, 7))
	p.set("layer=1&head=2&q=8&temperature=1.5")
	p.requireSight(row(1, 2, 8))
	p.requireNext(1, nextAt(t, g, text, 1.5, func(*layers.Build) {}))

	// The keyboard has the same effects.
	p.set("layer=1&head=2&q=7")
	p.do(chromedp.Focus(chromedp.CSS(`.token[data-k="7"]`)), chromedp.KeyEvent(kb.ArrowLeft))
	require.Contains(t, p.text(".picture .readout"), fmt.Sprintf("“g” 7 → “f” 6: weight %.4f", row(1, 2, 7)[6]))
	p.do(chromedp.KeyEvent(kb.Enter))
	p.waitFor(`location.hash.includes("q=6")`)
	p.settle()
	p.requireSight(row(1, 2, 6))

	// One click shows the numbers of a weight.
	most := row(1, 2, 6)
	at := slices.Index(most, slices.Max(most))
	p.click(`.mostattended [aria-label^="Why "]`)
	p.waitFor(`document.querySelector(".steps")`)
	require.Contains(t, p.text("h2"), fmt.Sprintf("Query 6 “f” and key %d", at))
}

// Typing updates the whole page. Tokens can be appended by a click, drawn at random, and removed again.
func TestTyping(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	p := openPage(t, "layer=1&head=1", "--model", commandtest.WriteGPT(t, g), "--text", "abc défg\nab")
	p.waitFor(arcsDrawn)
	tokens := func() string {
		return js[string](p, `[...document.querySelectorAll(".strips .token")].map((e) => e.textContent).join("")`)
	}
	js[bool](p, `((e) => { e.value = "fed"; return e.dispatchEvent(new Event("input")); })(document.querySelector("#text"))`)
	p.waitFor(`document.querySelectorAll(".strips .token").length === 3`)
	p.settle()
	require.Equal(t, "fed", tokens())
	p.requireNext(2, nextOf(t, g, "fed", func(*layers.Build) {}))
	p.requireSight(layerWeights(t, g.Model, g.Tokenizer, "fed")[1][9+6:][:3])

	second := js[string](p, `document.querySelectorAll(".candidate .what")[1].textContent`)
	p.click(`.nextlist li:nth-child(2) .candidate`)
	p.waitFor(`document.querySelectorAll(".strips .token").length === 4`)
	require.Equal(t, "fed"+second, tokens())
	js[bool](p, `(Math.random = () => 0, true)`) // which draws the likeliest
	p.settle()
	first := js[string](p, `document.querySelectorAll(".candidate .what")[0].textContent`)
	p.click("button.primary")
	p.waitFor(`document.querySelectorAll(".strips .token").length === 5`)
	require.Equal(t, "fed"+second+first, tokens())
	p.press(".next-side .tools button:nth-child(2)") // writes on
	p.waitFor(`document.querySelectorAll(".strips .token").length >= 8`)
	p.press(".next-side .tools button:nth-child(2)")
	p.waitFor(`document.querySelector(".next-side .tools button:nth-child(2)").textContent === "Write on"`)
	p.click(".next-side .tools button:nth-child(3)")
	p.waitFor(`document.querySelectorAll(".strips .token").length === 3`)
	js[bool](p, `((e) => { e.value = "fedx"; return e.dispatchEvent(new Event("input")); })(document.querySelector("#text"))`)
	p.waitFor(`document.querySelector("[role=alert]")?.textContent.includes("got 'x' at position 3")`)
	p.expectProblem("400")
}

// A hidden token and a head that is switched off change the attention and the next tokens, as in the library. The same
// picture also shows the state before the change.
func TestChanges(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	p := openPage(t, "layer=1&head=1", "--model", commandtest.WriteGPT(t, g), "--text", text)
	p.waitFor(arcsDrawn)
	before := nextOf(t, g, text, func(*layers.Build) {})
	p.requireNext(1, before)
	p.requireNext(2, before)
	require.Zero(t, js[int](p, `document.querySelectorAll(".arcs .before").length`))
	hide := func(b *layers.Build) {
		keep := tensor.New(tensor.WithShape(11), tensor.WithBacking([]int{1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1}))
		b.Mask(mask.Keep{Keep: b.Graph().Constant(keep)}, "*")
	}
	p.set("layer=1&head=1&hide=2")
	p.waitFor(`document.querySelector(".arcs .before") && document.querySelector('.token[data-k="2"]').classList.contains("off")`)
	require.Contains(t, p.text(".changes"), "“c” 2 is hidden")
	p.requireNext(1, before)
	p.requireNext(2, nextOf(t, g, text, hide))
	p.click(`[data-keep="off"]`)
	p.waitFor(`document.querySelector("[data-keep=off]").textContent === "Switch head on" &&
		location.hash.includes("factors=1x1x0")`)
	p.settle()
	p.requireNext(2, nextOf(t, g, text, func(b *layers.Build) {
		hide(b)
		b.ScaleHeads([]float64{1, 0, 1}, "transformer.h.1.attn")
	}))
	require.Equal(t, 1, js[int](p, `document.querySelectorAll(".thumbnail.off").length`))
	p.screenshots(t, "changed")
	p.click(`[data-keep="undo"]`)
	p.waitFor(`!document.querySelector(".arcs .before")`)
	most := js[string](p, `document.querySelector(".mostattended tr").dataset.k`)
	p.click(`.mostattended [aria-label^="Hide "]`)
	p.waitFor(fmt.Sprintf(`location.hash.includes("hide=%s") && document.querySelector(".arcs .before")`, most))
	p.requireNext(1, before)

	// Any token can be hidden and shown again where it is chosen.
	p.set("layer=1&head=1&q=4")
	p.click(`[data-keep="hide"]`)
	p.waitFor(`document.querySelector('.token[data-k="4"]').classList.contains("off")`)
	require.Equal(t, "Show “d”", p.text(`[data-keep="hide"]`))
	p.requireNext(2, nextOf(t, g, text, func(b *layers.Build) {
		keep := tensor.New(tensor.WithShape(11), tensor.WithBacking([]int{1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1}))
		b.Mask(mask.Keep{Keep: b.Graph().Constant(keep)}, "*")
	}))
	p.click(`[data-keep="hide"]`)
	p.waitFor(`!location.hash.includes("hide=")`)
}

// The tokens of a long text that are out of sight also get the colours of another head.
func TestTokensOutOfSight(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=0&head=1&q=599", "--model", largeGPT(t, 1, 2, 300), "--text", strings.Repeat("abbaab", 100))
	colours := func() []string {
		p.waitFor(arcsDrawn)
		p.settle()
		return js[[]string](p, `[...document.querySelectorAll(".strips .token")].map((e) => e.style.backgroundColor)`)
	}
	first := colours()
	require.Len(t, first, 600)
	require.NotContains(t, first, "")
	require.Positive(t, js[int](p, `document.querySelector(".arcspicture").scrollTop`))
	p.set("layer=0&head=0&q=599")
	other := colours()
	require.NotEqual(t, first[0], other[0])
	p.set("layer=0&head=1&q=599")
	require.Equal(t, first, colours())
}
