package view_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A link, and a saved page, show the head that the page itself has chosen, on every panel.
func TestLinksHaveTheProposedHead(t *testing.T) {
	t.Parallel()
	p := openPage(t, "text=bad+c%C3%A9g+abba+dab", "--model", gptFolder(t), "--text", "abc")
	p.waitFor(`document.querySelector(".heads-side .note").textContent.includes("most telling first")`)
	p.settle()
	head := js[[]string](p, `["layer", "head"].map((n) => new URLSearchParams(location.hash.slice(1)).get(n))`)
	require.NotEqual(t, []string{"0", "0"}, head, "the test wants another head than the first")
	where := fmt.Sprintf("ayer %s, head %s", head[0], head[1])
	require.Contains(t, p.text(".where"), where+", which tells most of this text")
	sentence := p.text(".sentence")
	link := js[string](p, `location.href`)

	other := tab(t, "", p.origin)
	other.open(link)
	other.waitFor(arcsDrawn)
	require.Equal(t, sentence, other.text(".sentence"))
	require.Contains(t, other.text(".where"), where)
	other.open(link + "&panel=journey")
	other.waitFor(`document.querySelector(".way")`)
	require.Contains(t, js[string](other, `document.querySelector("#panel").textContent`), where)

	name, content := p.saved(".savepage button")
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	saved := tab(t, "", "file://"+file)
	saved.open("file://" + file)
	saved.waitFor(arcsDrawn)
	require.Equal(t, sentence, saved.text(".sentence"))
	require.Contains(t, saved.text(".where"), where)

	// The page chooses the most telling head of each new text until the reader chooses one.
	p.set("panel=attention&text=" + strings.Repeat("abc", 4) + "&layer=" + head[0] + "&head=" + head[1])
	p.click(`[data-layer="0"][data-head="0"]`)
	p.set("panel=attention&text=cab&layer=0&head=0")
	require.Contains(t, p.text(".where"), "layer 0, head 0. ")
}

// If a text is empty or the model cannot read it, the page says so. It then shows neither the picture nor the note of
// the previous text.
func TestNoPictureOfNoText(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	p.waitFor(arcsDrawn)
	stale := `document.querySelector(".stage").classList.contains("stale")`
	write := func(text string) {
		js[bool](p, fmt.Sprintf(`(() => { const area = document.querySelector("#text"); area.value = %s;
			area.dispatchEvent(new Event("input")); return true; })()`, quoted(t, text)))
	}
	write(strings.Repeat("ab", 100))
	p.waitFor(`document.querySelector(".ask .note").textContent.includes("longer than the model’s window")`)
	p.settle()
	write("")
	p.waitFor(stale)
	require.Equal(t, "Write something: the model reads it at each key stroke.", p.text(".ask .note"))
	write(strings.Repeat("ab", 100))
	p.waitFor("!" + stale)
	write("aX")
	p.waitFor(`document.querySelector(".error")`)
	p.expectProblem("400")
	require.True(t, js[bool](p, stale))
	require.Empty(t, p.text(".ask .note"))
	write("")
	require.Zero(t, js[int](p, `document.querySelectorAll(".error").length`))
	write("ab")
	p.waitFor("!" + stale)
}

// If queries and keys belong to different texts, the page offers to hide the token that the headline names.
func TestHideIsOfWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=2&head=1", "--model", datesRun(t, 1), "--text", "3 sep '75\n1975")
	p.waitFor(arcsDrawn)
	most := js[string](p, `[...document.querySelectorAll(".strips .token[data-k]")].sort((a, b) =>
		b.ariaLabel.match(/weight ([^,]+)/)[1] - a.ariaLabel.match(/weight ([^,]+)/)[1])[0].textContent`)
	require.NotEqual(t, "3", most, "the test wants another key than the first")
	require.Equal(t, "Hide “"+most+"”", p.text(`[data-keep="hide"]`))
}

// A full window of 64 letters fits into one row on a screen of 1280 pixels, and so do 80 letters.
func TestAFullWindowIsOneRow(t *testing.T) {
	t.Parallel()
	for _, n := range []int{40, 64, 80} {
		p := openPage(t, "", "--model", largeGPT(t, 1, 1, 80), "--text", strings.Repeat("ab", n/2))
		p.waitFor(arcsDrawn)
		rows := js[int](p, `new Set([...document.querySelectorAll(".strips .token")].map((e) => e.offsetTop)).size`)
		require.Equal(t, 1, rows, n)
	}
}

// The widths of arcs are proportional to the weights. The page says that a row is flat if all its weights are about
// equal.
func TestFlatRowsAreFlat(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=0&head=0&q=59", "--model", largeGPT(t, 1, 1, 64), "--text", strings.Repeat("ab", 30))
	p.waitFor(arcsDrawn)
	most := js[float64](p, `Math.max(...[...document.querySelectorAll(".arcs .arc")].map((e) => e.getAttribute("stroke-width")))`)
	weights := p.csv(".under .csv")[1:]
	largest := 0.0
	for _, row := range weights {
		largest = max(largest, float(t, row[3]))
	}
	require.Len(t, weights, 60)
	flat := largest <= 2.0/60
	require.Equal(t, flat, strings.Contains(p.text(".sentence"), "looks at all 60 tokens alike (at most "), p.text(".sentence"))
	if flat {
		require.Less(t, most, 2.0)
	}
}

// A head that is switched off keeps its own weights: the page shows no second fan of arcs, and describes the change.
func TestSwitchedOffHeadSaysWhatChanges(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=1&head=1", "--model", gptFolder(t), "--text", "abc défg\nab")
	p.waitFor(arcsDrawn)
	p.set("layer=1&head=1&factors=1x1x0")
	p.waitFor(`document.querySelector(".effect b")`)
	require.Zero(t, js[int](p, `document.querySelectorAll(".arcs .before").length`))
	require.Regexp(t, `^What comes next: .+ → .+ %\. +This head’s own weights stay as they were`, p.text(".effect"))
	p.set("layer=1&head=1&hide=2")
	p.waitFor(`document.querySelector(".arcs .before")`)
	require.Contains(t, p.text(".effect"), "Dashed ones: before them.")
}

// The arcs can be saved as a picture with the tokens, and their weights as a table.
func TestArcsAreSaved(t *testing.T) {
	t.Parallel()
	p := openPage(t, "layer=1&head=1", "--model", gptFolder(t), "--text", "abc défg\nab")
	p.waitFor(arcsDrawn)
	p.click(".under summary")
	name, svg := p.saved(`.under [title*="SVG"]`)
	require.Equal(t, "attention.svg", name)
	require.Equal(t, 11, strings.Count(svg, "<rect")-1, "the tokens, and the paper")
	require.Equal(t, js[int](p, `document.querySelectorAll(".arcs path").length`), strings.Count(svg, "<path"))
	require.Contains(t, svg, "stroke=\"rgb")
	for _, token := range []string{"é", "⏎", "·"} {
		require.Contains(t, svg, ">"+token+"</text>")
	}
	p.click(".under summary")
	name, png := p.saved(`.under [title*="PNG"]`)
	require.Equal(t, "attention.png", name)
	require.Greater(t, len(png), 2000)
}

// quoted returns a text as JavaScript has it.
func quoted(t testing.TB, text string) string {
	q, err := json.Marshal(text)
	require.NoError(t, err)
	return string(q)
}

// Tokens without a glyph are shown by name.
func TestTokensWithoutAGlyph(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	for text, want := range map[string]string{"\a": "‹07›", "a\x1bb": "a‹1b›b", "\r\n": "‹0d›⏎", " a": "·a", "\u00a0": "‹a0›",
		"\u200d": "‹200d›", "\u0301": "‹301›", "e\u0301": "e\u0301", "👩\u200d🚀": "👩\u200d🚀", "": "∅"} {
		require.Equal(t, want, js[string](p, `import("./dom.js").then((m) => m.shown({ text: `+quoted(t, text)+` }))`), "%q", text)
	}
	require.Equal(t, "‹e6› 日₂", js[string](p, `import("./dom.js").then((m) => m.shown({ text: "\\xe6", part: true }) + " " +
		m.shown({ text: "\\xe6", part: true, of: "日", at: 2 }))`))
}

// A token stays on one line beside its row of numbers, however long its name is.
func TestRowNamesAreOneLine(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=steps&section=head&layer=0&head=0", "--model", gptFolder(t), "--text", "abc défg\nab")
	p.waitFor(`document.querySelector(".matrix tbody th")`)
	js[bool](p, `(document.querySelector(".matrix tbody th").textContent = "·animals·crossed", true)`)
	require.Less(t, js[float64](p, `document.querySelector(".matrix tbody th").getBoundingClientRect().height`), 32.0)
}

// If a curve has only one point, the point has the curve's colour in the legend.
func TestOnePointHasItsColour(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	js[bool](p, `import("./curves.js").then(({ Curves }) => {
		const c = new Curves("one point");
		document.querySelector("#panel").append(c.element);
		c.show([{ name: "a", points: [[1, 1], [2, 2]] }, { name: "b", points: [[2, 1]], ink: "rgb(1, 2, 3)" }]);
		return true;
	})`)
	p.waitFor(`document.querySelector("circle.plus")`)
	require.Equal(t, "rgb(1, 2, 3)", js[string](p, `getComputedStyle(document.querySelector("circle.plus")).fill`))
}
