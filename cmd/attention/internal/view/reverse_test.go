package view_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	server "attention/cmd/attention/internal/view/serve"
	"attention/layers"
	"attention/train/tasks/reversal"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// openRivals opens the page for untrained models of the task reverse.
func openRivals(t *testing.T, state string) (*page, []server.Rival) {
	needPage(t)
	var rivals []server.Rival
	for _, kind := range []reversal.Kind{reversal.Squeezed, reversal.Attending, reversal.Transformer} {
		m, err := reversal.New(layers.NewParams(tensor.Float32, 5).Scope(""), kind)
		require.NoError(t, err)
		w, err := reversal.NewWriter(m)
		require.NoError(t, err)
		exact := make([]float64, reversal.Longest-reversal.Shortest+1)
		rivals = append(rivals, server.Rival{Name: string(kind), Parameters: m.Params().Count(), Exact: exact, Writer: w})
	}
	s, err := server.New(server.Config{Addr: "127.0.0.1:0", Rivals: rivals})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	p := tab(t, s.URL, s.URL)
	p.holdTimer(400) // by which a string grows by itself
	p.open(s.URL + "#" + state)
	return p, rivals
}

// written waits until the page shows the outputs of all models for a text, and returns them.
func (p *page) written(text string) (all []string) {
	p.t.Helper()
	p.waitFor(fmt.Sprintf(`document.querySelector("#string").value === %q &&
		document.querySelector("#at").value === %q && document.querySelector("#play").textContent === "Write again" &&
		document.querySelectorAll(".rival svg.reversing").length === 3`, text, fmt.Sprint(len(text))))
	return js[[]string](p, `[...document.querySelectorAll(".rival")].map((r) =>
		[...r.querySelectorAll(".letter.out")].map((e) => e.textContent).join(""))`)
}

// typeString types a string as a reader does.
func (p *page) typeString(text string) {
	p.t.Helper()
	js[bool](p, `(document.querySelector("#string").select(), true)`)
	p.do(chromedp.Focus(chromedp.CSS("#string")), chromedp.KeyEvent(text))
	p.settle()
}

// The page shows the letters that the models write, and the right letter below a wrong one. Lines lead to the letters
// that the models attend to.
func TestReversedIsTheModels(t *testing.T) {
	t.Parallel()
	p, rivals := openRivals(t, "text=abcdefg&at=7")
	check := func(text string) {
		t.Helper()
		for i, got := range p.written(text) {
			want, err := rivals[i].Write(t.Context(), text)
			require.NoError(t, err)
			require.Equal(t, want.Text, got)
			wrong := js[string](p, fmt.Sprintf(`[...document.querySelectorAll(".rival")[%d].querySelectorAll(".want")].
				map((e) => e.textContent).join("")`, i))
			wanted := ""
			for at, letter := range []byte(want.Text) {
				if right := text[len(text)-1-at]; letter != right {
					wanted += string(right)
				}
			}
			require.Equal(t, wanted, wrong)
			require.Equal(t, fmt.Sprintf("%d of %d right", len(text)-len(wanted), len(text)),
				p.text(fmt.Sprintf(`[data-rival="%s"] .score`, rivals[i].Name)))
		}
	}
	check("abcdefg")
	p.typeString("Jig hay 1!")
	require.Contains(t, p.text(".note.small"), "letters a to j only")
	check("jigha")
	p.set("text=badcabfed&at=3&head=2")
	for _, i := range []int{1, 2} {
		want, err := rivals[i].Write(t.Context(), "badcabfed")
		require.NoError(t, err)
		row := want.Heads[2*(i-1)][2*10:][:10]
		most := slices.Index(row, slices.Max(row))
		label := js[string](p, fmt.Sprintf(`document.querySelectorAll("svg.reversing")[%d].getAttribute("aria-label")`, i))
		require.Contains(t, label, fmt.Sprintf("for letter 3 it looks most at letter %d, ", most+1))
		require.Contains(t, label, fmt.Sprintf("weight %.2f", row[most]))
		var lines []string
		for key, w := range row {
			if w > 0.02 {
				lines = append(lines, fmt.Sprintf("2 to %d: %.3f", key, w))
			}
		}
		require.Equal(t, lines, js[[]string](p, fmt.Sprintf(`((root) => {
			const [above, below] = ["16", "102"].map((y) => [...root.querySelectorAll(".letter[y='" + y + "']")]);
			const at = (letters, x) => letters.findIndex((e) => e.getAttribute("x") === x);
			return [...root.querySelectorAll(".now")].map((e) => at(below, e.getAttribute("x1")) + " to " +
				at(above, e.getAttribute("x2")) + ": " + e.getAttribute("stroke-opacity"));
		})(document.querySelectorAll("svg.reversing")[%d])`, i)))
	}
	require.Equal(t, 92, js[int](p, `document.querySelectorAll("[data-rival=squeezed] svg rect:not(.vector)").length`))
}

// A slider changes the length of the string, and each model's slider the number of written letters. The keyboard works,
// too.
func TestReversedGrows(t *testing.T) {
	t.Parallel()
	p, _ := openRivals(t, "text=abcde&at=5")
	p.written("abcde")
	p.do(chromedp.Focus(chromedp.CSS("#length")), chromedp.KeyEvent(kb.End))
	p.waitFor(`document.querySelector("#length + output").textContent === "40"`)
	long := js[string](p, `new URLSearchParams(location.hash.slice(1)).get("text")`)
	require.True(t, strings.HasPrefix(long, "abcde"), long)
	for _, text := range p.written(long) {
		require.Len(t, text, 40)
	}
	p.do(chromedp.Focus(chromedp.CSS("#at")), chromedp.KeyEvent(kb.Home+kb.ArrowRight+kb.ArrowRight))
	require.Equal(t, "2 of 40", p.text("#at + output"))
	require.Equal(t, 2, js[int](p, `document.querySelectorAll("[data-rival=transformer] .letter.out").length`))
	p.click("#play")
	require.Equal(t, "Stop", p.text("#play"))
	p.written(long)
}

// Until the reader enters a string, the page begins with five letters and grows the string to 25 automatically. Keys
// pause it and go on, and add a letter or take one away; so do its button and the reader's own string.
func TestTheStringGrowsByItself(t *testing.T) {
	t.Parallel()
	p, rivals := openRivals(t, "")
	letters := func() int { return js[int](p, `Number(document.querySelector("#length").value)`) }
	require.Equal(t, 5, letters())
	p.ticks(3)
	require.Equal(t, 8, letters())
	p.do(chromedp.KeyEvent(" "))
	require.Equal(t, "Longer", p.text("#grow"))
	p.ticks(2)
	require.Equal(t, 8, letters(), "it pauses")
	p.do(chromedp.KeyEvent(kb.ArrowRight + kb.ArrowRight + kb.ArrowLeft))
	p.waitFor(`document.querySelector("#length").value === "9"`)
	p.click("#grow")
	require.Equal(t, "Pause", p.text("#grow"))
	p.ticks(30)
	require.Equal(t, 25, letters())
	require.Equal(t, "Longer", p.text("#grow"))
	text := js[string](p, `new URLSearchParams(location.hash.slice(1)).get("text")`)
	require.True(t, strings.HasPrefix(text, "bighe"), text)
	for i, got := range p.written(text) {
		want, err := rivals[i].Write(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, want.Text, got)
	}
	p.click("#grow")
	p.typeString("abc")
	require.Equal(t, "Longer", p.text("#grow"), "the reader has taken over")
	p.written("abc")

	// If the browser asks for reduced motion, the page shows the long string at once.
	p.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
	p.do(chromedp.Navigate("about:blank"))
	p.open(p.origin)
	require.Equal(t, 25, letters())
	require.Equal(t, "Longer", p.text("#grow"))
	p.written(js[string](p, `document.querySelector("#string").value`))
}

// The page violates no rule of axe-core, and does not scroll sideways on a phone, even with the longest string.
func TestReversedIsAccessible(t *testing.T) {
	t.Parallel()
	script := axe(t)
	p, _ := openRivals(t, "text=abcde&at=3")
	checkPanels(t, p, script, []panelState{
		{"panel=why&text=abcde&at=3", `document.querySelectorAll("svg.reversing").length === 3`},
		{"panel=why&at=40&text=" + strings.Repeat("abcdefghij", 4), `document.querySelector("#at").value === "40"`},
	})
}
