package view_test

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is the longest time that a test waits. On an idle machine everything comes at once.
const patience = 3 * time.Minute

// do runs actions; an error fails the test.
func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, actions...))
}

// holdTimer makes window.tick() the only clock of what the page repeats after some milliseconds.
func (p *page) holdTimer(milliseconds int) {
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`(() => {
				const [begin, end] = [setInterval, clearInterval];
				window.tick = () => {};
				window.setInterval = (f, ms) => (ms === %d ? ((window.tick = f), 1e9) : begin(f, ms));
				window.clearInterval = (id) => (id === 1e9 ? (window.tick = () => {}) : end(id));
			})()`, milliseconds)})
		return err
	}))
}

// ticks makes the time of a held timer pass, a number of times.
func (p *page) ticks(n int) {
	p.t.Helper()
	for range n {
		js[bool](p, `(window.tick(), true)`)
		p.settle()
	}
}

// settled is an expression that is true when the page shows its state: all answers have arrived and all pictures are
// drawn.
const settled = `document.querySelector("main").dataset.busy === "no" &&
	[...document.querySelectorAll(".heatmap canvas")].every((c) => c.dataset.ready === "yes")`

// settle waits until the page shows what its state asks for.
func (p *page) settle() {
	p.t.Helper()
	p.waitFor(settled)
}

// click clicks the first element of a selector after the page has settled, and waits until the page shows the result.
func (p *page) click(selector string) {
	p.t.Helper()
	if p.moves {
		p.press(selector)
		return
	}
	p.settle()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
	p.settle()
}

// press clicks the first element of a selector wherever it is, because a pointer would miss an element that moves.
func (p *page) press(selector string) {
	p.t.Helper()
	p.waitFor(fmt.Sprintf(`document.querySelector(%q).disabled === false`, selector))
	js[bool](p, fmt.Sprintf(`(document.querySelector(%q).click(), true)`, selector))
}

// js returns the value of a JavaScript expression, which may be a promise.
func js[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return value
}

// waitFor waits until a JavaScript condition holds. It does not hold while an element that it reads is missing.
func (p *page) waitFor(condition string) {
	p.t.Helper()
	holds := fmt.Sprintf(`(() => {
		try {
			return (%s);
		} catch (e) {
			if (e instanceof TypeError) return false;
			throw e;
		}
	})()`, condition)
	haste := time.Duration(p.haste)
	ctx, cancel := context.WithTimeout(p.ctx, 2*patience) // also ends when the page does not count the time-out itself
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](holds, chromedp.WithPollingTimeout(haste*patience),
		chromedp.WithPollingInterval(haste*10*time.Millisecond)))
	require.NoError(p.t, err, "%s; the page says: %s", condition, p.text("main"))
}

// text returns the text of the first element of a selector.
func (p *page) text(selector string) string {
	p.t.Helper()
	return js[string](p, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

// saved clicks the button of a selector and returns the file that the page saves.
func (p *page) saved(selector string) (name, content string) {
	p.t.Helper()
	js[bool](p, `(() => {
		window.savedFile = null;
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { window.savedBlob = blob; return make.call(URL, blob); };
		HTMLAnchorElement.prototype.click = function () { window.savedFile = this.download; };
		return true;
	})()`)
	p.settle()
	js[bool](p, fmt.Sprintf(`((menu) => { if (menu) menu.open = true; return true; })(
		document.querySelector(%q).closest("details"))`, selector))
	p.click(selector)
	p.waitFor(`window.savedFile`)
	content = js[string](p, `savedBlob.arrayBuffer().then((b) =>
		btoa(Array.from(new Uint8Array(b), (x) => String.fromCharCode(x)).join("")))`)
	data, err := base64.StdEncoding.DecodeString(content)
	require.NoError(p.t, err)
	return js[string](p, "window.savedFile"), string(data)
}

// csv returns the table that a button saves.
func (p *page) csv(selector string) (rows [][]string) {
	p.t.Helper()
	name, content := p.saved(selector)
	require.Contains(p.t, name, ".csv")
	rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	require.NoError(p.t, err)
	return rows
}

// set sets the state of the page and waits until it is shown.
func (p *page) set(state string) {
	p.t.Helper()
	js[bool](p, fmt.Sprintf(`new Promise((heard) => {
		const before = location.href;
		location.hash = %q;
		if (location.href === before) heard(true);
		else addEventListener("hashchange", () => heard(true), {once: true});
	})`, state))
	p.settle()
}

// choose chooses an option of a select and waits until the page shows the result.
func (p *page) choose(selector, value string) {
	p.t.Helper()
	p.settle()
	js[bool](p, fmt.Sprintf(`((e, value) => { e.value = value; return e.dispatchEvent(new Event("change")); })(
		document.querySelector(%q), %q)`, selector, value))
	p.settle()
}

// float returns the number in a text of the page or in a cell of a table.
func float(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "−", "-"), 64)
	require.NoError(t, err)
	return v
}

// screenshots writes pictures of the page to the folder VIEW_PICTURES, if that is set, for visual inspection: at 1280 ×
// 800 and 390 wide, light and dark.
func (p *page) screenshots(t testing.TB, name string) {
	dir := os.Getenv("VIEW_PICTURES")
	if dir == "" {
		return
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
		for _, theme := range []string{"light", "dark"} {
			p.do(chromedp.EmulateViewport(size[0], size[1]))
			js[string](p, fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
			js[bool](p, `dispatchEvent(new Event("theme"))`)
			js[bool](p, `new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => seen(true))))`)
			p.settle()
			picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(fmt.Sprintf("%s/%s-%d-%s.png", dir, name, size[0], theme), picture, 0o644))
		}
	}
	p.do(chromedp.EmulateViewport(1280, 800))
	js[bool](p, `(delete document.documentElement.dataset.theme, dispatchEvent(new Event("theme")))`)
}
