package view_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/forward"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// largeGPT writes the folder of a GPT with heads of width 64 that reads 2 × n characters.
func largeGPT(b testing.TB, numLayers, heads, n int) string {
	vocabulary, err := text.NewVocabulary("ab")
	require.NoError(b, err)
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 2, ContextLength: 2 * n, EmbedDim: 64 * heads,
		NumLayers: numLayers, NumHeads: heads, Activation: "gelu_new", TieWordEmbeddings: true, Bias: true})
	require.NoError(b, err)
	return commandtest.WriteGPT(b, &pretrained.GPT{Model: m, Params: p, Tokenizer: vocabulary, EndOfText: -1})
}

// timing measures in the page, in milliseconds.
const timing = `
	window.drawn = () => new Promise((done) => {
		const look = () => document.querySelector(".heatmap canvas")?.dataset.ready === "yes" ? done(performance.now()) : requestAnimationFrame(look);
		look();
	});
	window.until = async (is) => {
		while (!is()) await new Promise(requestAnimationFrame);
		return performance.now();
	};
	window.change = async (act, is) => {
		await new Promise((done) => setTimeout(done, 100)); // the reader looks at the picture
		const begin = performance.now();
		act();
		await until(is);
		await new Promise((done) => setTimeout(done)); // the frame is painted
		return performance.now() - begin;
	};
	window.type = async (text) => {
		const begin = performance.now();
		const area = document.querySelector("#text");
		const before = document.querySelectorAll(".strips .token").length;
		area.value = text;
		area.dispatchEvent(new Event("input"));
		const end = await until(() => document.querySelectorAll(".strips .token").length !== before);
		const forward = performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/forward")).at(-1).duration;
		return end - begin - forward;
	};
	window.frames = async (times, act) => {
		const all = [];
		let last = performance.now();
		for (let i = 0; i < times; i++) {
			act(i);
			await new Promise(requestAnimationFrame);
			all.push(performance.now() - last);
			last = performance.now();
		}
		return all;
	};
	true`

// BenchmarkPage reports two waiting times: of the first screen for a model of 12 layers with 12 heads at T 1024, and of
// a frame while zooming and panning at T 4096. The times after a keystroke and before the first head exclude the
// forward pass.
func BenchmarkPage(b *testing.B) {
	for b.Loop() {
		p := beginPage(b, "", "--model", largeGPT(b, 12, 12, 512), "--text", strings.Repeat("abaab", 1023/5))
		b.ReportMetric(js[float64](p, `new Promise((done) => { const f = () => { const e = performance.getEntriesByName("first-contentful-paint")[0];
			e ? done(e.startTime) : setTimeout(f, 20); }; f(); })`), "ms-first-paint")
		js[bool](p, timing)
		ready := js[float64](p, `until(() => document.querySelector(".arcs .arc"))`)
		forward := js[float64](p, `performance.getEntriesByType("resource").find((e) => e.name.endsWith("/forward")).responseEnd`)
		b.ReportMetric(ready-forward, "ms-first-head")
		const told = `document.querySelector(".heads-side .note").textContent.includes("the most telling first")`
		early := switches(p, 12, func() bool { return js[bool](p, told) }) // until all small pictures are there
		b.ReportMetric(early[len(early)/2], "ms-switch-early")
		b.ReportMetric(float64(len(early)), "switches-early")
		p.waitFor(told)
		all := switches(p, 12, func() bool { return false })
		b.ReportMetric(all[len(all)/2], "ms-switch")
		b.ReportMetric(js[float64](p, `change(() => { location.hash += "&temperature=0.5"; },
			() => document.querySelector("output").value === "0.5")`), "ms-temperature")
		b.ReportMetric(js[float64](p, fmt.Sprintf("type(%q)", strings.Repeat("abaab", 1023/5)+"a")), "ms-key-stroke")
	}
}

// switches returns the times in milliseconds from a click on a head's picture until the head is painted, in ascending
// order. It measures at most n heads, or until over returns true.
func switches(p *page, n int, over func() bool) (all []float64) {
	for i := 0; i < n && !over(); i++ {
		layer, head := (5*i+1)%12, (7*i+2)%12
		all = append(all, js[float64](p, fmt.Sprintf(`change(
			() => document.querySelector(".thumbnail[data-layer='%d'][data-head='%d']").click(),
			() => document.querySelector(".detail h2").textContent === "Layer %d, head %d")`, layer, head, layer, head)))
	}
	slices.Sort(all)
	p.t.Logf("switches: %.0f ms", all)
	return all
}

// BenchmarkZoom reports the frames while a head of T 4096 is zoomed and panned.
func BenchmarkZoom(b *testing.B) {
	for b.Loop() {
		p := beginPage(b, "panel=heads", "--model", largeGPT(b, 1, 2, 2048), "--text", strings.Repeat("abaaabab", 4096/8))
		js[bool](p, timing)
		p.do(chromedp.EmulateViewport(1280, 800))
		b.ReportMetric(js[float64](p, `drawn()`), "ms-drawn")
		for name, act := range map[string]string{
			"zoom": `c.dispatchEvent(new WheelEvent("wheel", {deltaY: i < 40 ? -60 : 60, clientX: r.x + 300, clientY: r.y + 300, bubbles: true, cancelable: true}))`,
			"pan": `(i ? null : c.dispatchEvent(new WheelEvent("wheel", {deltaY: -900, clientX: r.x + 300, clientY: r.y + 300, bubbles: true})),
				c.dispatchEvent(new KeyboardEvent("keydown", {key: i % 2 ? "ArrowDown" : "ArrowRight", shiftKey: true, bubbles: true})))`,
		} {
			all := js[[]float64](p, fmt.Sprintf(`(() => { const c = document.querySelector(".heatmap canvas"); const r = c.getBoundingClientRect();
				return frames(80, (i) => %s); })()`, act))
			slices.Sort(all)
			b.ReportMetric(all[40], "ms-frame-"+name)
			b.ReportMetric(all[76], "ms-frame95-"+name)
		}
	}
}

// BenchmarkPassMemory reports two sizes per token: the memory that the server keeps for a pass after all its heads were
// shown, and the largest memory meanwhile. The latter includes up to a tenth of garbage. Both are the same at any
// length.
func BenchmarkPassMemory(b *testing.B) {
	m, err := forward.Open(largeGPT(b, 2, 2, 4096))
	require.NoError(b, err)
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	for b.Loop() {
		for _, n := range []int{512, 1024, 2048, 4096, 8192} {
			before := heap()
			var l *forward.Pass
			most := highest(func() {
				l, err = m.Forward(b.Context(), forward.Request{Text: strings.Repeat("ab", n/2)})
				require.NoError(b, err)
				for _, layer := range l.Layers {
					for head := range layer.Heads {
						_, err := layer.Summary(head)
						require.NoError(b, err)
						_, err = layer.Overview(head, 1024)
						require.NoError(b, err)
					}
				}
			})
			b.ReportMetric((heap()-before)/float64(n), fmt.Sprintf("bytes/token-kept-%d", n))
			b.ReportMetric((most-before)/float64(n), fmt.Sprintf("bytes/token-most-%d", n))
			runtime.KeepAlive(l)
		}
	}
}

// heap returns the bytes in use.
func heap() float64 {
	runtime.GC()
	runtime.GC() // of pools, too
	return objects()
}

// objects returns the bytes of all objects, including unreachable ones.
func objects() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}

// highest returns the most bytes of objects while f runs.
func highest(f func()) (most float64) {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	for {
		select {
		case <-done:
			return most
		case <-time.After(time.Millisecond):
			most = max(most, objects())
		}
	}
}
