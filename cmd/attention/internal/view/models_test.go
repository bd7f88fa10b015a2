package view_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/testenv"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/tasks/dates"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// datesRun writes the folder of a run of attention translate.
func datesRun(t testing.TB, seed int64) string {
	dir, _ := commandtest.DatesRun(t, dates.Config{EmbedDim: 8, NumHeads: 2, NumLayers: 1}, seed, 2)
	return dir
}

// gptFolder writes the folder of a small GPT.
func gptFolder(t testing.TB) string { return commandtest.WriteGPT(t, commandtest.SmallGPT(t)) }

// layerRun writes the folder of a run whose model is a layer with two heads.
func layerRun(t testing.TB) string {
	dir, _, _ := commandtest.LayerRun(t, "multi_head")
	return dir
}

// A control is an element of a panel that can be chosen, clicked or moved.
type control struct {
	Name  string `json:"name"`
	Tag   string `json:"tag"`
	Still bool   `json:"still"` // whether it has no other option, or is already chosen, or disabled
}

// controls returns the controls of the panel in their order.
func (p *page) controls() []control {
	p.t.Helper()
	const chosen = `"[aria-current=true], [data-layer][aria-pressed=true], .token[aria-pressed=true]"`
	return js[[]control](p, `controls().map((e) => ({name: nameOf(e), tag: e.tagName, still: e.tagName === "SELECT" ?
		e.options.length < 2 : e.disabled || !!e.closest(`+chosen+`)}))`)
}

// driver are JavaScript functions that find and use controls.
const driver = `
	window.controls = () => [...document.querySelectorAll("main button, main select, main input, main textarea")];
	window.nameOf = (e) => e.getAttribute("aria-label") || e.closest("label")?.firstChild.textContent.trim() ||
		e.id || e.textContent.replace(/ [▲▼]/, "");
	window.fingerprint = () => [location.hash, window.saved, document.querySelector("main").innerHTML].join();
	window.saved = 0;
	HTMLAnchorElement.prototype.click = function () { window.saved++; };
	window.use = (name, tag, nth) => {
		const e = controls().filter((e) => e.tagName === tag && nameOf(e) === name)[nth];
		if (!e) throw new Error("got none, want " + [tag, name, nth] + " in " + document.querySelector("main").innerHTML);
		if (e.tagName === "SELECT") e.selectedIndex = (e.selectedIndex + 1) % e.options.length;
		if (e.tagName === "INPUT") e.value = Number(e.value) === Number(e.min) ? e.max : e.min;
		if (e.tagName === "TEXTAREA") e.value += e.value.at(-1);
		if (e.tagName === "BUTTON") e.click();
		else e.dispatchEvent(new Event("input", {bubbles: true})), e.dispatchEvent(new Event("change", {bubbles: true}));
		if (e.tagName === "TEXTAREA") e.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true}));
	};
	true`

// Every panel shows every kind of model. Each of its controls has an effect and causes no error.
func TestEveryControlOfEveryModel(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name   string
		models []string
		text   string
		panels map[string][]string // the controls that each panel must have
	}{
		{name: "gpt", text: "abc défg\nab", panels: map[string][]string{
			"attention": {"text", "layer 1 head 2", "Switch head off", "factor", "Undo all changes", "Next token", "temperature"},
			"heads": {"layer 1 head 2", "mean of the heads of layer 1", "scale", "entropy", "telling",
				"1.2: show layer 1 head 2", "One pair", "CSV", "PNG"},
			"pair":    {"model", "layer", "head", "query", "key", "CSV", "SVG"},
			"compare": {"first", "second", "layer", "head", "PNG", "SVG"},
			"steps":   {"model", "layer", "head", "query", "key", "CSV"},
			"journey": {"model", "layer", "head", "Block before"},
		}, models: []string{gptFolder(t), gptFolder(t)}},
		{name: "layer", text: "badcab", panels: map[string][]string{
			"attention": {"text", "layer 0 head 1", "factor"},
			"heads":     {"layer 0 head 1", "mean of the heads of layer 0", "distance"},
			"pair":      {"layer", "head", "query", "key"},
			"compare":   {"first", "second", "layer", "head"},
			"steps":     {"model", "layer", "head", "query", "key", "CSV"},
			"journey":   {"model", "head"},
		}, models: []string{layerRun(t), layerRun(t)}},
		{name: "dates", text: "3 sep '75", panels: map[string][]string{
			"attention": {"text", "layer 2 head 1", "factor", "temperature", "CSV"},
			"heads":     {"layer 2 head 1", "mean of the heads of layer 2"},
			"pair":      {"layer", "head", "query", "key"},
			"compare":   {"first", "second", "layer", "head"},
			"steps":     {"model", "layer", "head", "query", "key", "CSV"},
		}, models: []string{datesRun(t, 1), datesRun(t, 2)}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "layer" && !testenv.All {
				t.Skip("its panels are those of a GPT, too: ATTENTION_TESTS=all tests them")
			}
			t.Parallel()
			p := openPage(t, "", "--model", kind.models[0], "--model", kind.models[1], "--text", kind.text)
			js[bool](p, driver)
			for _, panel := range slices.Sorted(maps.Keys(kind.panels)) {
				state := "panel=" + panel + "&layer=0&head=0&q=3&k=1&hide=1&factors=0x1x0.5"
				p.restore(state)
				all := p.controls()
				var names []string
				for _, c := range all {
					names = append(names, c.Name)
				}
				require.Subset(t, names, kind.panels[panel], "%s, %s", kind.name, panel)
				seen := map[control]int{} // with this name; the order of the heads' rows may have changed
				for _, c := range all {
					nth := seen[control{Name: c.Name, Tag: c.Tag}]
					seen[control{Name: c.Name, Tag: c.Tag}]++
					if c.Still {
						continue
					}
					what := fmt.Sprintf("%s, %s: %s %q", kind.name, panel, c.Tag, c.Name)
					js[bool](p, fmt.Sprintf("window.before = fingerprint(), use(%q, %q, %d), true", c.Name, c.Tag, nth))
					p.waitFor("fingerprint() !== before")
					p.settle()
					require.False(t, js[bool](p, `!!document.querySelector("main [role=alert]")`), "%s: %s", what, p.text("main"))
					if strings.Contains("PNG SVG CSV", c.Name) {
						continue // which has no other effect
					}
					p.restore(state)
				}
			}
			p.screenshots(t, "models-"+kind.name)
		})
	}
}

// restore sets the complete state of the page.
func (p *page) restore(state string) {
	p.t.Helper()
	p.set(state)
	require.Equal(p.t, strings.TrimPrefix(strings.Split(state, "&")[0], "panel="),
		js[string](p, `document.querySelector("nav [aria-current=page]").dataset.panel`))
	require.True(p.t, js[bool](p, `!document.querySelector("main [role=status]") && !!document.querySelector("main h2") &&
		(!document.querySelector(".statistics") ||
			document.querySelectorAll(".statistics tbody tr").length === document.querySelectorAll(".thumbnail").length)`))
}

// Cross-attention shows both texts, and the colours match the library's numbers in the table.
func TestCrossAttention(t *testing.T) {
	t.Parallel()
	p := openPage(t, "panel=heads&layer=2&head=1&q=2&k=5", "--model", datesRun(t, 1), "--text", "3 sep '75\n1975")
	require.Equal(t, "Layer 2 (cross-attention), head 1", p.text("h2.head"))
	require.Contains(t, p.text(".texts"), "queries: ISO date, 1975")
	require.Contains(t, p.text(".texts"), "keys: date, 3·sep·'75")
	rows := p.csv(".wide .tools .csv")
	require.Equal(t, strings.Split("query \\ key|3| |s|e|p| |'|7|5", "|"), rows[0])
	require.Len(t, rows, 11)
	require.Equal(t, "1", rows[1][0])
	for _, row := range rows[1:] {
		sum := 0.0
		for _, w := range row[1:] {
			sum += float(t, w)
		}
		require.InDelta(t, 1, sum, 1e-5, "nothing is hidden")
	}
	_, weight, ok := strings.Cut(p.text(".readout"), "query 2 “7” → key 5 “·”: weight ")
	require.True(t, ok, p.text(".readout"))
	weight, _, _ = strings.Cut(weight, ",")
	require.InDelta(t, float(t, rows[3][6]), float(t, weight), 5e-5)
	p.waitFor(`document.querySelectorAll(".statistics tbody tr").length === 6`)
	require.Equal(t, "–", p.text(`.statistics tr[aria-current="true"] td:nth-child(4)`), "no query is its own key")
	p.screenshots(t, "cross")
	p.set("panel=attention&layer=2&head=1&q=2")
	p.waitFor(arcsDrawn)
	require.Equal(t, []string{"date", "ISO date"},
		js[[]string](p, `[...document.querySelectorAll(".stripname")].map((e) => e.textContent)`))
	p.requireSight(numbers(t, rows[3][1:]))
	p.screenshots(t, "cross-attention")
	p.set("panel=pair&layer=2&head=1&q=2&k=5")
	p.waitFor(`document.querySelector(".steps")`)
	values := js[[]string](p, `[...document.querySelectorAll(".steps .value")].map((e) => e.textContent)`)
	require.InDelta(t, float(t, rows[3][6]), float(t, values[len(values)-1]), 1e-5)
	p.screenshots(t, "cross-pair")
	p.set("panel=attention&hide=7.8")
	p.waitFor(`document.querySelectorAll("button.place").length === 20`)
	p.click(`[data-keep="after4"]`)
	p.waitFor(`document.querySelector(".next-side h2").textContent.startsWith("Character 4")`)
	p.screenshots(t, "cross-changed")
}

// A simple layer has nothing that can be hidden or switched off, and the page says so.
func TestLayersWithNothingToChange(t *testing.T) {
	t.Parallel()
	dir, _, _ := commandtest.LayerRun(t, "simple")
	p := openPage(t, "hide=1&factors=0x0x0.5", "--model", dir, "--text", "badcab")
	p.waitFor(arcsDrawn)
	require.Contains(t, p.text("main"), "neither a mask nor heads to change")
	require.Zero(t, js[int](p, `document.querySelectorAll(".arcs .before, [data-keep=off], .mostattended [aria-label^=Hide]").length`))
}

// Without a text each model reads an example that it can encode.
func TestExamples(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", commandtest.WriteGPT(t, commandtest.SmallGPT(t)), "--model", datesRun(t, 1))
	p.choose("main select", "1")
	p.waitFor(`document.querySelector("#text").value.startsWith("wednesday") &&
		document.querySelector(".strips").textContent.includes("wednesday")`)
	p.set("model=0&text=zzz")
	p.waitFor(`document.querySelector("[role=alert]")?.textContent.includes("got 'z'")`)
	p.expectProblem("400")
	p.click("[role=alert] + button")
	require.False(t, js[bool](p, `!!document.querySelector("[role=alert]")`))
}

// If a character is split into tokens, its bytes are marked.
func TestPartsOfCharacters(t *testing.T) {
	t.Parallel()
	params := layers.NewParams(tensor.Float32, 7)
	tokenizer := text.NewGPT2Tokenizer()
	m, err := layers.NewGPT(params.Scope(""), layers.GPTConfig{VocabSize: tokenizer.Len(), ContextLength: 8, EmbedDim: 4,
		NumLayers: 1, NumHeads: 2, Activation: "gelu_new", TieWordEmbeddings: true, Bias: true})
	require.NoError(t, err)
	dir := commandtest.WriteGPT(t, &pretrained.GPT{Model: m, Params: params, Tokenizer: tokenizer,
		EndOfText: text.GPT2EndOfText})
	p := openPage(t, "", "--model", dir, "--text", "a 日")
	p.waitFor(arcsDrawn)
	tokens := js[[]string](p, `[...document.querySelectorAll(".strips .token")].map((e) => e.textContent)`)
	require.Equal(t, "a", tokens[0])
	require.Equal(t, []string{"·日₁", "·日₂", "·日₃"}, tokens[1:])
}
