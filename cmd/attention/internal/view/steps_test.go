package view_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"
	"attention/internal/dense"
	"attention/layers/chapter"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// shownNumbers returns the numbers of each step that the page shows.
func (p *page) shownNumbers() map[string][]float64 {
	p.t.Helper()
	all := map[string][]float64{}
	for _, row := range p.csv("h2 button")[1:] {
		all[row[0]] = append(all[row[0]], float(p.t, row[4]))
	}
	return all
}

// openSection opens a section and waits for it.
func (p *page) openSection(number int, state string) {
	p.t.Helper()
	p.set(fmt.Sprintf("panel=steps&section=%d%s", number, state))
	p.waitFor(fmt.Sprintf(`document.querySelector("h2")?.textContent.startsWith("%d. ")`, number))
}

// requireSteps requires the numbers of a section's steps. Of a large step the page has a corner.
func (p *page) requireSteps(steps []chapter.Step) {
	p.t.Helper()
	got := p.shownNumbers()
	require.Len(p.t, got, len(steps))
	for _, s := range steps {
		if s.Value.Dtype() == tensor.Int {
			want := strings.Trim(fmt.Sprint(s.Value.Data()), "[]")
			require.Equal(p.t, want, strings.Trim(fmt.Sprintf("%.0f", got[s.Name]), "[]"))
			continue
		}
		want := dense.Float64s(s.Value)
		if n := s.Value.Shape().Dims(); n > 1 && s.Value.Shape()[n-1] > chapter.MaxWords {
			require.Equal(p.t, want[:8], got[s.Name][:8], s.Name)
			continue
		}
		require.Len(p.t, got[s.Name], len(want), s.Name)
		for i, w := range want {
			if math.IsInf(w, -1) {
				require.Equal(p.t, w, got[s.Name][i], s.Name)
				continue
			}
			require.InDelta(p.t, w, got[s.Name][i], 1e-6*max(1, math.Abs(w)), "%s, number %d", s.Name, i)
		}
	}
}

// move changes a number in the matrix that has the slider.
func (p *page) move(at int, to float64) {
	p.t.Helper()
	js[bool](p, fmt.Sprintf(`((step) => {
		step.querySelectorAll("tbody td")[%d].focus();
		const e = step.querySelector(".sliders [data-at='%d']");
		e.value = %v;
		e.dispatchEvent(new Event("input"));
		return e.dispatchEvent(new Event("change"));
	})(document.querySelector(".sliders").closest("[data-step]"))`, at, at, to))
}

// Each section shows the library's numbers. After a slider has changed a number, the section shows the library's
// results for that number. The sliders are those of W_query, of the first weights with sliders, or of the tokens. The
// formula of each number gives it.
func TestStepsEqualTheLibrary(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--chapter")
	for _, s := range chapter.Sections() {
		p.openSection(s.Number, "")
		steps, err := s.Trace(tensor.Float32, nil)
		require.NoError(t, err)
		p.requireSteps(steps)
		p.requireFormulas(s.Number)
		if !js[bool](p, `document.querySelector(".sliders") !== null`) {
			require.Contains(t, []int{15, 17, 20}, s.Number)
			continue
		}
		name := js[string](p, `document.querySelector(".sliders").closest("[data-step]").dataset.step`)
		of := slices.IndexFunc(steps, func(s chapter.Step) bool { return s.Name == name })
		first := map[int]string{1: "x", 2: "x", 24: "key"}[s.Number] // if there are no weights
		require.True(t, name == first || first == "" && strings.Contains(name, "W_query"), "section %d: %s", s.Number, name)
		numbers := slices.Clone(dense.Float64s(steps[of].Value))
		for at, to := range map[int]float64{len(numbers) - 1: -1.25, 0: 1.5} {
			p.move(at, to)
			numbers[at] = to
		}
		moved, err := s.Trace(tensor.Float32, map[string][]float64{name: numbers})
		require.NoError(t, err)
		p.requireSteps(moved)
	}
}

// requireFormulas requires that the formula shown for each number gives the number, from the digits shown.
func (p *page) requireFormulas(section int) {
	p.t.Helper()
	wrong := js[[]string](p, `(() => {
		const sigmoid = (x) => 1 / (1 + Math.exp(-x)), log = Math.log;
		const best = (...row) => row.map((v, i) => Number(v > 0 && i === row.indexOf(Math.max(...row))));
		const wrong = [];
		let told = 0;
		for (const td of document.querySelectorAll(".matrix tbody td")) {
			td.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
			const text = document.querySelector(".numbers")?.textContent;
			if (!text) continue;
			told++;
			const ofBest = /^1 if (.*) is the largest of its row, else 0$/.exec(text)?.[1];
			const sum = (ofBest ?? text).replaceAll("−", "-").replaceAll("∞", "Infinity").replaceAll("·", "*")
				.replaceAll(/√(\d+)/g, "Math.sqrt($1)").replaceAll(/(exp|log|tanh)\(/g, "Math.$1(");
			const sigmoid = (x) => 1 / (1 + Math.exp(-x));
			const is = Number(td.textContent.replace("−", "-").replace("∞", "Infinity"));
			let got;
			try {
				got = eval(sum);
			} catch {
				wrong.push(text);
				continue;
			}
			const near = got === is || ofBest && Number.isFinite(got) || Math.abs(got - is) <= 5e-4 * Math.max(1, Math.abs(is));
			if (!near) wrong.push(document.querySelector(".readout").textContent + " but " + got);
		}
		document.body.dataset.told = told;
		return wrong;
	})()`)
	require.Empty(p.t, wrong, "section %d", section)
	told := js[int](p, `Number(document.body.dataset.told)`)
	require.Equal(p.t, slices.Contains([]int{15, 17, 20}, section), told == 0, "section %d", section)
}

// Pointing at a number shows its formula and names, and marks the cells from which it is computed. The arrow keys move
// the selection. The state in the URL is restored, and the numbers return to their original values.
func TestStepsAreExplained(t *testing.T) {
	t.Parallel()
	p := openPage(t, "section=5", "--chapter")
	p.waitFor(`document.querySelectorAll(".matrix").length > 5`)
	cell := func(step string, row, column int) string {
		return fmt.Sprintf(`[data-step="%s"] tbody tr:nth-child(%d) td:nth-of-type(%d)`, step, row+1, column+1)
	}
	p.do(chromedp.Focus(chromedp.CSS(cell("scores", 1, 2))))
	told := p.text(".readout")
	require.Regexp(t, `^scores\[journey, starts\] = q·kᵀ = \d\.\d{4}·\d\.\d{4} \+ \d\.\d{4}·\d\.\d{4} = \d\.\d{4}$`, told)
	require.Equal(t, 4, js[int](p, `document.querySelectorAll(".used").length`))
	require.Equal(t, 2, js[int](p, `document.querySelectorAll("[data-step=q] tr:nth-child(2) .used").length`))
	p.do(chromedp.KeyEvent(kb.ArrowDown + kb.ArrowRight))
	require.Contains(t, p.text(".readout"), "scores[starts, with] = ")
	p.do(chromedp.KeyEvent(kb.Home + kb.ArrowLeft))
	require.Contains(t, p.text(".readout"), "scores[starts, Your] = ")
	before := p.shownNumbers()
	p.move(0, 2)
	require.NotEqual(t, before["context"], p.shownNumbers()["context"])
	require.Equal(t, before["k"], p.shownNumbers()["k"])
	moved := p.shownNumbers()
	hash := js[string](p, "location.hash")
	p.set("panel=steps&section=6")
	p.waitFor(`document.querySelector("h2").textContent.startsWith("6. ")`)
	p.set(strings.TrimPrefix(hash, "#"))
	p.waitFor(`document.querySelector("h2").textContent.startsWith("5. ")`)
	require.Equal(t, moved, p.shownNumbers(), "of the URL")
	p.set("panel=steps&section=9")
	p.waitFor(`document.querySelector("h2").textContent.startsWith("9. ")`)
	require.Equal(t, 15, js[int](p, `[...document.querySelectorAll("[data-step=weights] td")].
		filter((e) => e.style.background === "var(--hidden)" && e.textContent === "0.0000").length`), "hidden, not only 0")
	p.set(strings.TrimPrefix(hash, "#"))
	p.waitFor(`document.querySelector("h2").textContent.startsWith("5. ")`)
	p.click("#reset")
	require.Equal(t, before, p.shownNumbers())
	p.do(chromedp.Focus(chromedp.CSS(cell("x", 0, 0))))
	require.Equal(t, "x[Your, 0]", p.text("[data-step=x] .sliders label span"))
	require.Contains(t, js[string](p, "location.hash"), "change=x&cell=0")
	p.move(5, -1)
	require.NotEqual(t, before["k"], p.shownNumbers()["k"])
	rows := p.csv(`[data-step="weights"] h3 button`)
	require.Equal(t, []string{"", "Your", "journey", "starts", "with", "one", "step"}, rows[0])
	require.Equal(t, "step", rows[6][0])
}

// The text Why is open until a reader closes it. Arrows lead to a step from its operands, and buttons lead from section
// to section. The rows of the experiment are curves.
func TestChapterLeadsOn(t *testing.T) {
	t.Parallel()
	p := openPage(t, "section=16", "--chapter")
	require.True(t, js[bool](p, `document.querySelector("details").open`))
	p.click("summary")
	p.click(`[aria-label="the next section"]`)
	p.waitFor(`document.querySelector("h2").textContent.startsWith("17. ")`)
	require.False(t, js[bool](p, `document.querySelector("details").open`), "as the reader left it")
	chart := `[aria-label="entropy over D"] `
	s := chapter.Sections()[16]
	steps, err := s.Trace(tensor.Float32, nil)
	require.NoError(t, err)
	rows := p.csv(chart + ".csv")
	require.Equal(t, []string{"D", "q·kᵀ", "q·kᵀ / √D"}, rows[0])
	for i, row := range rows[1:] {
		require.Equal(t, []string{"2", "8", "32", "128", "512"}[i], row[0])
		require.InDelta(t, dense.Float64s(steps[0].Value)[i], float(t, row[1]), 1e-6)
	}
	require.Equal(t, 2, js[int](p, fmt.Sprintf("document.querySelectorAll(%q).length", chart+".curve")))
	p.click(".onward button")
	p.waitFor(`document.querySelector("h2").textContent.startsWith("18. ")`)
	p.set("panel=steps&section=9")
	p.waitFor(`document.querySelector("h2").textContent.startsWith("9. ")`)
	require.True(t, js[bool](p, `document.querySelector("details").open`), "of a URL without it")
	arrows := js[map[string]string](p, `Object.fromEntries([...document.querySelectorAll(".arrow + [data-step]")].map((e) =>
		[e.dataset.step, e.previousSibling.textContent]))`)
	require.Equal(t, map[string]string{"q": "", "k": "", "v": "", "scores": "q, k", "masked": "",
		"weights": ""}, arrows)
	require.True(t, js[bool](p, `document.querySelector('[aria-label="the section before"]').disabled === false`))
	p.set("panel=steps&section=1")
	p.waitFor(`document.querySelector('[aria-label="the section before"]').disabled`)
}

// The reader can enter words on the page or on the command line. Wrong words are refused with the reason.
func TestStepsOnOwnWords(t *testing.T) {
	t.Parallel()
	p := openPage(t, "section=11", "--chapter", "--text", "the cat sat")
	p.waitFor(`document.querySelectorAll(".matrix").length > 5`)
	check := func(words ...string) {
		t.Helper()
		s := chapter.Sections()[10]
		s.Words = words
		steps, err := s.Trace(tensor.Float32, nil)
		require.NoError(t, err)
		p.requireSteps(steps)
	}
	check("the", "cat", "sat")
	write := func(words string) {
		t.Helper()
		js[bool](p, fmt.Sprintf(`(e => { e.value = %q; return true; })(document.querySelector("#sentence"))`, words))
		p.click("form button[type=submit]")
	}
	for _, c := range []struct{ words, want string }{
		{"", "sentence: got 0, want 2 to 64 words"},
		{"alone", "sentence: got 1, want 2 to 64 words"},
		{strings.Repeat("a ", 65), "sentence: got 65, want 2 to 64 words"},
		{"a " + strings.Repeat("b", 65), "sentence: got \"bbb"},
	} {
		write(c.words)
		p.waitFor(fmt.Sprintf(`document.querySelector("[role=alert]")?.textContent.includes(%q)`, c.want))
		p.expectProblem("400")
	}
	write("a <b>dog</b> & a bird")
	p.waitFor(`document.querySelectorAll(".matrix").length > 5`)
	check("a", "<b>dog</b>", "&", "a", "bird")
	require.Contains(t, js[string](p, "location.hash"), "sentence=a+")
	p.click("form button[type=button]")
	p.waitFor(`document.querySelector("#sentence").value === "the cat sat"`)
	check("the", "cat", "sat")
}

// The steps of a head in a model end at the library's weights, and the formulas give the shown values.
func TestStepsOfAHead(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "panel=steps&layer=1&head=2&q=4", "--model", commandtest.WriteGPT(t, g), "--text", text)
	p.waitFor(`document.querySelectorAll(".matrix").length >= 8`)
	require.InDeltaSlice(t, weights[1][2*121:][:121], p.shownNumbers()["weights"], 1e-6)
	p.requireFormulas(0)
	p.choose(".tools .tools .choice:last-child select", "0")
	p.waitFor(`document.querySelector("h2").textContent.includes("head 0")`)
	require.InDeltaSlice(t, weights[1][:121], p.shownNumbers()["weights"], 1e-6)
}

// Steps give the same weights as Heads for every layer of the chapter, as a model folder, and for the cross-attention
// of a translator. The weights are those of the op.
func TestStepsOfModels(t *testing.T) {
	t.Parallel()
	check := func(dir, state, text string) {
		p := openPage(t, "panel=steps"+state, "--model", dir, "--text", text)
		p.waitFor(`document.querySelectorAll(".matrix").length >= 6`)
		all := p.shownNumbers()["weights"]
		p.requireFormulas(0)
		p.set("panel=heads" + state)
		p.waitFor(headReady)
		rows := p.csv(".wide .tools .csv")
		S := len(rows[0]) - 1
		require.Len(t, all, S*(len(rows)-1), dir)
		for q, row := range rows[1:] {
			sum := 0.0
			for k, w := range row[1:] {
				sum += all[q*S+k]
				if w != "" {
					require.InDelta(t, float(t, w), all[q*S+k], 6e-8, dir) // a float32 there
				}
			}
			require.InDelta(t, 1, sum, 1e-6)
		}
	}
	for _, name := range chapter.Names() {
		dir, _, _ := commandtest.LayerRun(t, name)
		check(dir, "", "badcab")
	}
	check(datesRun(t, 1), "&layer=2&head=1", "3 sep '75\n1975")
}

// An exported page, opened from the disk, has the sections with their sliders, and the steps of heads.
func TestExportHasSteps(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	file := filepath.Join(t.TempDir(), "page.html")
	var notes bytes.Buffer
	require.NoError(t, commandtest.Run(context.Background(), &notes, &notes, view.New(), "--chapter", "--model",
		commandtest.WriteGPT(t, g), "--text", "a b", "--export", file))
	require.Empty(t, notes.String())
	p := tab(t, "", "file://"+file)
	p.open("file://" + file + "#section=14")
	p.waitFor(`document.querySelectorAll(".matrix").length > 5`)
	require.Contains(t, p.text("main"), "On the words “a b”")
	s := chapter.Sections()[13]
	s.Words = []string{"a", "b"}
	steps, err := s.Trace(tensor.Float32, nil)
	require.NoError(t, err)
	p.requireSteps(steps)
	p.move(0, 0.5)
	name := "mha.W_query.weight"
	of := slices.IndexFunc(steps, func(s chapter.Step) bool { return s.Name == name })
	numbers := slices.Clone(dense.Float64s(steps[of].Value))
	numbers[0] = 0.5
	steps, err = s.Trace(tensor.Float32, map[string][]float64{name: numbers})
	require.NoError(t, err)
	p.requireSteps(steps)
	p.set("panel=steps&section=head&layer=1&head=1")
	p.waitFor(`document.querySelector("h2").textContent.includes("Layer 1, head 1")`)
	require.InDeltaSlice(t, layerWeights(t, g.Model, g.Tokenizer, "a b")[1][9:18], p.shownNumbers()["weights"], 1e-6)
}

// The panel violates no rule of axe-core, at both sizes; if all tests run, in both colour schemes.
func TestStepsAreAccessible(t *testing.T) {
	t.Parallel()
	script := axe(t)
	p := openPage(t, "", "--chapter", "--model", gptFolder(t), "--text", "abc défg ab")
	for section, title := range map[string]string{"5": "5.", "14": "14.", "15": "15.", "head": "Layer"} {
		checkPanels(t, p, script, []panelState{{"panel=steps&section=" + section, fmt.Sprintf(
			`document.querySelector("h2")?.textContent.startsWith(%q) && ((e) => { e.focus({preventScroll: true}); return true; })(
				document.querySelector(".onestep:last-child tbody td"))`, title)}})
	}
}

// The command refuses sentences for which no section can be computed.
func TestChapterRefuses(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := commandtest.Run(context.Background(), &out, &out, view.New(), "--chapter", "--text", "alone")
	require.EqualError(t, err, "--text: sentence: got 1, want 2 to 64 words")
}
